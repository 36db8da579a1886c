"""What user code did with objects that hold variables: models, layers, optimizers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from whygrad.graph.failure import FailureKind
from whygrad.graph.node import TapeId, VariableId
from whygrad.source import SourceSpan

Variables = tuple[VariableId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRead:
    """User code read an object's list of variables."""

    owner: str
    attribute: str
    where: SourceSpan | None
    held: Variables  # what the list held
    later: Variables = ()  # what the same list held once the owner was built, or in the end
    built: bool = True  # False: the owner said that it had not made all its variables yet
    handed_on: bool = False  # the very list was given to a gradient request
    unlisted: Variables = ()  # trainable variables in the owner's attributes that the list lacked
    made: tuple[SourceSpan, ...] = ()  # where the objects were made that hold those


class Given(StrEnum):
    """What an attribute was set to."""

    TRUE = "true"
    FALSE = "false"
    TENSOR = "tensor"
    WEIGHTS = "weights"  # values of the variables of an object
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeSet:
    """User code set an attribute of an object; `weights` is one, too."""

    owner: str
    attribute: str
    given: Given
    where: SourceSpan | None
    base: str = ""  # `module.Class` of the framework's that the owner is derived from
    known: bool = True  # the owner had such an attribute
    held: VariableId | None = None  # the variable that the attribute held until then
    variables: Variables = ()  # of the owner
    made: SourceSpan | None = None  # where the owner was made
    source: str | None = None  # of weights: the object whose values they are
    source_variables: Variables = ()
    order: int = 0
    step: int = 0  # training steps made so far
    ran_on: str | None = None  # a model in training whose compiled step had run before, and went on unchanged


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A place where user code calls an object."""

    where: SourceSpan | None
    callers: tuple[SourceSpan, ...] = ()  # of user code around it, the innermost first
    taped: bool = True  # a tape was recording
    training: bool | None = None  # the mode that was asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectCalled:
    """An object was called, by user code or inside of another object."""

    name: str
    variables: Variables = ()  # its trainable ones
    calls: tuple[Call, ...] = ()  # by user code, not inside of another object
    made: tuple[SourceSpan, ...] = ()  # where, and the user code around that
    most_in_a_pass: int = 1  # calls within one call of the object around it, or by one expression under one tape
    mode_dependent: tuple[str, ...] = ()  # the objects inside that behave differently in training
    has_statistics: bool = False  # some object inside has collected statistics of data
    penalties: tuple[str, ...] = ()  # regularisers and added losses inside
    penalties_read: frozenset[TapeId] = frozenset()  # the tapes under which they were
    ready_made: bool = False  # of the library, without a function of the user's in it


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledMetric:
    """A metric of a training."""

    name: str
    output: str = ""  # that it is for, by name or number; empty: every one
    of_class_numbers: bool = False  # it takes predictions for the numbers of classes, as they are


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """`model.compile(...)`, and how the model was trained until the next."""

    model: str
    where: SourceSpan | None
    has_loss: bool
    metrics: tuple[CompiledMetric, ...] = ()
    metrics_as_weights: bool = False  # metrics were given by position where the weights of losses are expected
    trainable: Variables | None = ()  # None: it had no variables yet
    optimizer: int = 0  # which one; 0: none
    stateful: bool = False  # that optimizer keeps moments
    trained: bool = False
    epochs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """`fit` or `train_on_batch`, counted like a request."""

    model: str
    where: SourceSpan | None
    trainable: Variables  # by the flags as they were then
    frozen: Variables  # that would be trainable but for a flag
    trainable_when_compiled: Variables | None = None  # None: it was not compiled, or had no variables then
    trains_as_compiled: bool = False  # flags that are set after compiling do not count
    trainable_when_made: Variables | None = None  # when the training step was made; None: it was made now
    known_when_made: Variables = ()  # all variables that the model had then
    runs_compiled: bool = False  # it goes on with a training step that was compiled before
    own_loss: SourceSpan | None = None  # where the model computes its loss in a way of its own
    raised: FailureKind | None = None  # the exception that it ended with, where its kind is known
    order: int = 0  # when it was called last
    seen: int = 1
