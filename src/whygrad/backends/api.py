"""What lint has to know of a framework's names, in neutral words. Each backend fills one `Api`, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto


class Does(Enum):
    """What a function computes, as far as its gradient is concerned."""

    SMOOTH = auto()  # has a derivative, nothing special about it
    MOVE = auto()  # reshapes, slices, joins or passes on
    CONSTANT = auto()  # a value from outside
    FILLED = auto()  # the same, of a given shape
    SHAPE = auto()  # depends on the shape of its input only
    COMPARE = auto()
    ROUND = auto()
    SIGN = auto()
    INDEX = auto()  # argmax, argsort, buckets, counts
    ONE_HOT = auto()
    CAST = auto()
    STOP = auto()
    NOISE = auto()  # a random draw without parameters
    SAMPLE = auto()  # a random draw whose parameters get no gradient
    FOREIGN = auto()  # the value leaves the framework and comes back
    UNREGISTERED = auto()  # asking for its gradient raises
    TO_ARRAY = auto()  # gives an array
    SELECT = auto()
    GATHER = auto()  # the second input only chooses
    LOG = auto()
    SQRT = auto()
    RSQRT = auto()
    EXP = auto()
    DIVIDE = auto()
    DIVIDE_SAFELY = auto()
    POWER = auto()
    NORM = auto()
    DEVIATION = auto()  # a standard deviation
    INVERSE_TRIG = auto()
    ADD = auto()
    SUBTRACT = auto()
    MULTIPLY = auto()
    NEGATE = auto()
    SQUARE = auto()
    ABS = auto()
    SUM = auto()
    REDUCE = auto()  # another reduction: mean, maximum
    MAXIMUM = auto()
    MINIMUM = auto()
    CLIP = auto()
    RELU = auto()
    SIGMOID = auto()
    SOFTMAX = auto()
    LOG_SOFTMAX = auto()
    POSITIVE = auto()  # what is always above zero
    CROSS_ENTROPY = auto()  # of labels and logits, in the order that `Api.labels_first` tells
    CLIP_GRADIENTS = auto()
    CALLS = auto()  # calls the function that it is given
    CALLS_PYTHON = auto()  # the same, as Python each time
    GRADIENTS = auto()  # the result of a gradient request
    LAYER = auto()  # a layer or network that is called
    WRITTEN = auto()  # a variable that was written
    EITHER = auto()  # one of its inputs, as a branch decides
    STATE = auto()  # comes out of a keeper of values


class Role(Enum):
    """What a class, or a function that makes something, makes."""

    TAPE = auto()
    VARIABLE = auto()
    NETWORK_VARIABLE = auto()  # that networks keep track of
    LAYER = auto()
    INPUT = auto()  # a layer or function that declares the input of a network
    LAMBDA = auto()
    SEQUENTIAL = auto()
    NETWORK = auto()
    MODULE = auto()
    OPTIMIZER = auto()
    LOSS = auto()
    METRIC = auto()
    COMPILED = auto()  # the decorator of compiled functions
    CUSTOM_GRADIENT = auto()
    ARRAY_OF_TENSORS = auto()
    DATASET = auto()
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class Gone:
    """A name that today's version does not have; `instead` may name another to write in its place."""

    says: str
    instead: str
    rename: str | None = None  # the dotted name to write, where that is all there is to do


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """One framework and its companions."""

    roots: Mapping[str, str]  # how a dotted import begins, longest first, and what stands for it in these tables
    shortened: Mapping[str, str]  # the same inside of a dotted name
    seen_from: Mapping[tuple[str, str], str]  # a package and a name that means something else when reached through it
    mentions: tuple[str, ...]  # words that a file which uses the framework has in it
    functions: Mapping[str, Does]  # by the last part of a name, or by all of it where that alone would mislead
    spaces: tuple[str, ...]  # where functions on tensors live
    others: tuple[str, ...]  # where, inside of these, other functions live
    roles: Mapping[str, Role]
    families: Mapping[str, Role]  # modules all of whose classes are of one role
    methods: Mapping[str, Does]  # of tensors
    escapes: frozenset[str]  # methods through which a value leaves
    integers: frozenset[str]  # names of dtypes that carry no gradient
    floats: frozenset[str]
    weightless: frozenset[str]  # layers without variables
    flagged: frozenset[str]  # layers that behave differently in training
    entropies: Mapping[str, bool]  # losses that take a probability unless told otherwise; whether of exclusive classes
    labels_first: Mapping[str, bool]  # functions of labels and predictions whose arguments are often exchanged
    today: tuple[str, ...]  # how names of the versions begin that `gone` speaks of
    networks: tuple[str, ...]  # how names of the library of networks begin, today's version
    finished: tuple[str, ...]  # networks that come with all their layers
    data: tuple[str, ...]  # where data sets come from
    lifts: frozenset[str]  # blocks that are run when a function is traced, and are no part of it
    activation_layers: Mapping[str, Does]
    gone: Mapping[str, Gone]  # dotted names
    gone_methods: Mapping[tuple[Role, str], Gone]
    gone_attributes: Mapping[tuple[Role, str], Gone]
    gone_arguments: Mapping[tuple[str, str], Gone]
    activations: Mapping[str, Does]
