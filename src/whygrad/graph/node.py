"""What ran, as frozen data: no arrays and no framework objects, so it can be stored, compared and built by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NewType

from whygrad.source import SourceSpan

OpId = NewType("OpId", int)
TensorId = NewType("TensorId", int)
VariableId = NewType("VariableId", int)
TapeId = NewType("TapeId", int)

OWN: Final = "whygrad/"  # how the names of variables begin that whygrad makes for itself


class OpKind(StrEnum):
    """What an op does, in words every framework shares."""

    CONSTANT = "constant"  # a value that enters from outside: a literal, an array, a batch
    READ = "read"  # variable -> tensor
    WRITE = "write"  # tensor -> variable
    SMOOTH = "smooth"  # has a derivative, nothing special about it
    ELEMENTWISE = "elementwise"  # arithmetic between tensors of broadcastable shapes
    MOVE = "move"  # reshapes, slices, joins or passes on; values unchanged
    SHAPE = "shape"  # depends on the shape of its input only, never on its values
    REDUCE = "reduce"
    CONTRACT = "contract"  # matrix products and convolutions
    SELECT = "select"  # takes elements from one of two branches
    CLIP = "clip"
    CAST = "cast"
    STOP = "stop"
    ROUND = "round"
    SIGN = "sign"
    COMPARE = "compare"
    INDEX = "index"  # argmax, argsort, top-k positions, buckets, counts
    ONE_HOT = "one-hot"
    NOISE = "noise"  # a random draw without parameters that could be trained
    SAMPLE = "sample"  # a random draw from given parameters
    FOREIGN = "foreign"  # the value leaves the framework and comes back: NumPy, Python, predict()
    STATE = "state"  # a data set, queue, table or other keeper of values
    CUSTOM = "custom"  # a gradient the user wrote
    CALL = "call"
    SOFTMAX = "softmax"
    CROSS_ENTROPY = "cross-entropy"  # inputs: logits, labels
    LOG = "log"
    EXP = "exp"
    SQRT = "sqrt"
    DIVIDE = "divide"
    POWER = "power"
    INVERSE_TRIG = "inverse-trig"
    GRADIENT = "gradient"  # the result of a gradient request
    OTHER = "other"


class Action(StrEnum):
    """What an op computes, where a kind is too wide for a question: both a sum and a difference are elementwise."""

    ADD = "add"
    SUBTRACT = "subtract"
    SQUARED_DIFFERENCE = "squared-difference"
    NEGATE = "negate"
    MULTIPLY = "multiply"
    DIVIDE = "divide"
    DIVIDE_NO_NAN = "divide-no-nan"  # zero where the divisor is zero
    SUM = "sum"
    MEAN = "mean"
    SOFTMAX = "softmax"
    IDENTITY = "identity"
    RESHAPE = "reshape"  # the same elements under another shape
    CONVERT = "convert"  # to another type of number
    REAL_PART = "real-part"
    UPDATE = "update"  # an optimizer's, of a variable
    SQUARE = "square"
    RECIPROCAL_ROOT = "reciprocal-root"
    NORM = "norm"
    GROW_EXPONENTIALLY = "grow-exponentially"  # other than the exponential itself, which is a kind
    MODULO = "modulo"
    ANGLE = "angle"  # of a point, by its two coordinates
    PASS_ON = "pass-on"  # the inputs as they are, perhaps after a look at them
    PERMUTE = "permute"
    BROADCAST = "broadcast"
    JOIN = "join"  # several tensors in one
    SPLIT = "split"  # pieces of one tensor
    SCATTER = "scatter"  # rows put in their places
    ASSIGN = "assign"  # to a variable: a whole value in place of the old
    INCREMENT = "increment"  # of a variable: adds to what is there, or takes away
    DRAW_CATEGORY = "draw-category"  # one of several, by their logits
    DRAW_COUNT = "draw-count"  # a whole number: Poisson, binomial


class Flow(StrEnum):
    """What the gradient of an op gives to one of its inputs."""

    CARRIED = "carried"
    ZERO = "zero"  # a gradient that is zero whatever the values
    BLOCKED = "blocked"  # None
    UNREGISTERED = "unregistered"  # asking raises


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    id: TensorId
    dtype: str
    shape: tuple[int | None, ...] | None = None  # None: unknown rank

    @property
    def is_floating(self) -> bool:
        return self.dtype.startswith(("float", "bfloat", "complex", "double", "half"))

    @property
    def is_opaque(self) -> bool:
        """Whether it is a handle to anything, such as an element of a data set or a list of tensors."""
        return self.dtype in ("variant", "resource", "unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """One operation, as it ran (eager) or as it was traced (graph mode)."""

    id: OpId  # grows in the order of execution
    kind: OpKind
    name: str  # the framework's own word for it, for display only
    inputs: tuple[TensorId, ...]
    outputs: tuple[TensorId, ...]
    flows: tuple[Flow, ...]  # one for each input
    where: SourceSpan | None  # None: no frame of user code was on the stack
    action: Action | None = None  # None: none that a question needs
    derivative_of: OpId | None = None  # the forward op whose derivative this op is, on a tape's way back
    tapes: frozenset[TapeId] = frozenset()  # the tapes that recorded it
    variable: VariableId | None = None  # READ and WRITE only
    layers: tuple[str, ...] = ()  # the layers whose calls it ran in, outermost first
    custom: str | None = None  # the user's custom-gradient function it ran in
    branched: bool = False  # inside a loop or branch, through which a missing gradient comes back as zeros
    inferred: bool = False  # the op was not seen, it is concluded from what was
    blank: tuple[int, ...] = ()  # products and ratios: the inputs that were seen to be all zeros
    flat: bool = False  # a bound that was seen to give nothing but zeros

    def does_the_same_as(self, other: Op) -> bool:
        """Whether it is the same operation, on whatever values."""
        return self.name == other.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    id: VariableId
    name: str
    dtype: str
    shape: tuple[int | None, ...] | None = None
    named: bool = True  # False: the name is what the framework calls those that were given none
    trainable: bool = True  # as its owner has it: a frozen layer's variables are not
    watchable: bool = True  # whether a tape watches it without being told to
    created: SourceSpan | None = None
    owner: str | None = None  # the layer or object that holds it
    attribute: str | None = None  # the attribute it is held under
    writes: int = 0  # by user code, after it was made; an optimizer's updates are not counted
    in_constructor: bool = False  # made in `__init__` or `build` of something that has variables
    from_data: bool = False  # made with values that came from outside and differ: no initializer gave them
    made_in_step: int = 0  # how many gradients had been asked for when it was made
    tracked: bool = True  # False: its owner's list of trainable variables does not have it
    foreign: bool = False  # an attribute of a layer whose library tracks variables of its own only, and this is none

    @property
    def is_floating(self) -> bool:
        return self.dtype.startswith(("float", "bfloat", "complex"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tape:
    id: TapeId
    persistent: bool = False
    watches_variables: bool = True
    entered: SourceSpan | None = None
    spent: SourceSpan | None = None  # the request that used up a tape that is not persistent
    watched: tuple[SourceSpan, ...] = ()  # where it was told to watch something, the first few


@dataclass(frozen=True, slots=True, kw_only=True)
class Lapse:
    """Ops that ran inside a tape's block and that it knows nothing of all the same."""

    first: OpId
    end: OpId  # the first one after them
    where: SourceSpan | None
    emptied: bool = False  # it was told to forget them afterwards; else it was told not to record them


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """A value left the framework: for NumPy, for Python."""

    how: str  # `.numpy()`, `float()`, ...
    where: SourceSpan
    tensor: TensorId | None = None  # None: one that no request could reach
    moment: int = 0  # on the clock of `Graph.entered`
    function: str = ""  # the Python function, run as an op, in whose body it left


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Graph:
    """The ops that one gradient request could reach, in the order they ran."""

    ops: tuple[Op, ...] = ()
    tensors: Mapping[TensorId, Tensor] = field(default_factory=dict)
    truncated: bool = False  # older history was dropped to keep memory flat
    # Known where a gradient was lost:
    departures: tuple[Departure, ...] = ()
    entered: Mapping[TensorId, int] = field(default_factory=dict)  # the moments at which values came in
    called: Mapping[str, tuple[SourceSpan, ...]] = field(default_factory=dict)  # layer -> where user code calls it
