"""Things that happened beside the ops."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from whygrad.graph.failure import FailureKind
from whygrad.graph.node import Departure, VariableId
from whygrad.graph.nonfinite import (
    GradientAmplified,
    GradientUnderflow,
    LossUnscaled,
    NonfiniteBorn,
    NonfiniteEntered,
    NonfiniteSpread,
    NonfiniteSummed,
    NonfiniteUnplaced,
    NonfiniteUpdate,
)
from whygrad.source import SourceSpan


@dataclass(frozen=True, slots=True, kw_only=True)
class UnbuiltRead:
    """A model's list of variables was read by user code before all of the model was built."""

    model: str
    attribute: str
    where: SourceSpan | None
    length: int
    length_later: int  # how long the same list is now
    used: bool  # the very list was handed to a gradient request or an optimizer
    consumed: bool = False  # the expression loops over the list at once
    variables: tuple[VariableId, ...] = ()  # what the list holds now


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgrownList:
    """A module's list of variables was read by user code, and the module has made more variables since."""

    model: str
    attribute: str
    where: SourceSpan | None
    then: tuple[VariableId, ...]
    since: tuple[VariableId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleForgets:
    """User code read a module's list of trainable variables, which lacks some that the module holds."""

    module: str
    where: SourceSpan | None
    variables: tuple[VariableId, ...]  # that are missing
    made: tuple[SourceSpan, ...] = ()  # where the layers were made that hold them
    empty: bool = False  # the list had none at all


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedOntoItself:
    """The weights of one network were copied to another that has the very same variables."""

    source: str
    target: str
    variables: tuple[VariableId, ...]
    where: SourceSpan | None
    made: SourceSpan | None = None  # where the other network was made


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagSet:
    """`layer.trainable = value` in user code."""

    layer: str
    value: bool
    where: SourceSpan | None
    variables: tuple[VariableId, ...] = ()
    order: int = 0
    step: int = 0  # training steps made so far
    without_effect: str | None = None  # a model whose `fit` was running and went on with the step it had compiled


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTrained:
    """`fit` or `train_on_batch` on a compiled model."""

    model: str
    method: str
    where: SourceSpan | None
    trainable: tuple[VariableId, ...]
    frozen: tuple[VariableId, ...]
    frozen_since_compile: tuple[VariableId, ...] = ()  # trainable when compiled, not any more
    thawed_since_compile: tuple[VariableId, ...] = ()
    raised: FailureKind | None = None  # the exception it ended with, if the backend knows its kind
    order: int = 0  # when it was called last
    stale: int = 0  # variables whose flag changed after the training step had been compiled
    added: tuple[VariableId, ...] = ()  # made after the training step had been compiled
    as_compiled: bool = False  # flags that were set after compiling have no effect
    seen: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """`model.compile(...)` in user code."""

    model: str
    where: SourceSpan | None
    has_loss: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Recompiled:
    """`model.compile(...)` ran several times at one place, with an epoch of training or less in between."""

    model: str
    where: SourceSpan | None
    replaced: int  # optimizers in a row that were given up
    variables: tuple[VariableId, ...]  # what all of them trained


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerCalled:
    """User code called a layer while a tape was recording."""

    layer: str
    where: SourceSpan | None
    training_given: bool  # some call passed `training=`
    training_omitted: bool  # some call did not
    mode_dependent: tuple[str, ...]  # the layers inside that behave differently in training
    penalties: tuple[str, ...]  # regularisers and added losses inside
    penalties_read: bool  # `losses` was read while a tape was recording
    variables: tuple[VariableId, ...]
    refused: SourceSpan | None = None  # a function says `training=False` here for a step that does not know of it
    refused_for: SourceSpan | None = None  # where that training step calls the function


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomGradient:
    """What became of a gradient that the user wrote: of each function, each different outcome once."""

    function: str
    where: SourceSpan | None = None  # the gradient function, from its first line to its last
    variables: tuple[str, ...] = ()  # that the function uses, where the framework asked for their gradients
    takes_variables: bool = True  # the gradient function has an argument for them
    withheld: tuple[int, ...] = ()  # the arguments for which None came back


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCalls:
    """One network is called under two names, one of which was assigned from the other."""

    names: tuple[str, str]  # the assigned name first
    assigned: SourceSpan | None
    places: tuple[SourceSpan, ...]
    variables: tuple[VariableId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Multiplied:
    """A list was multiplied, `[Layer()] * 3`: it has the same object several times."""

    name: str
    where: SourceSpan  # the multiplication
    variables: tuple[VariableId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeRebound:
    """An attribute of a layer that held a variable was set to a tensor."""

    layer: str
    attribute: str
    variable: str
    where: SourceSpan | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClippedSum:
    """Gradients of several requests were clipped one by one and then added up."""

    clipped: SourceSpan | None
    summed: SourceSpan | None
    noised: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningTotal:
    """A sum of losses was differentiated after each term, and these gradients were added up: the first counts most."""

    asked: SourceSpan | None
    summed: SourceSpan | None


class NameKind(StrEnum):
    """What a name in a traced function stands for."""

    NUMBER = "number"
    NETWORK = "network"  # something that holds weights: a layer, a model, an optimizer
    FUNCTION = "function"


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedName:
    """A name in a traced function: Python looked at it once, while tracing."""

    name: str  # as it is written: `beta`, `self.rate`, `np.random.normal`
    kind: NameKind
    changed: bool = False  # it stood for something else after the function had been traced
    changed_at: SourceSpan | None = None  # where that was set, if it was seen
    closed_over: bool = False  # of a function around it
    functions: tuple[str, ...] = ()  # full names: of the function, or of those that a user's own function calls


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedFunction:
    """A function of the user's whose Python ran while it was traced."""

    where: SourceSpan  # an expression in it
    ran_again: bool = False  # what was traced ran again, without its Python
    names: tuple[TracedName, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadAttribute:
    """An attribute that the framework no longer has was set: nothing looks at it."""

    owner: str
    attribute: str
    where: SourceSpan | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsOverwritten:
    """Rows of a variable were replaced by steps along its gradient, and some row was named more than once."""

    variable: VariableId
    where: SourceSpan | None
    rows: int  # different ones
    repeated: int  # of these, named more than once
    seen: int = 1
    of: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsMisread:
    """An optimizer was given a sparse gradient with repeated rows and takes another step than for the dense one."""

    variable: VariableId
    optimizer: str  # its class
    where: SourceSpan | None
    made: SourceSpan | None  # where the optimizer was made
    rows: int  # different ones in a sample of the gradient
    repeated: int  # of these, named more than once
    difference: float  # between the step it takes and the one that is due, as a share of the latter


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateDiscarded:
    """A step of a variable along its own gradient was computed, and nothing ever used the result."""

    variable: VariableId
    where: SourceSpan | None
    seen: int = 1
    name: str | None = None  # any value at all, bound to this name, which held the variable and is not read again


Event = (
    AttributeRebound
    | ClippedSum
    | Compiled
    | CopiedOntoItself
    | CustomGradient
    | DeadAttribute
    | Departure
    | FlagSet
    | LayerCalled
    | ModelTrained
    | ModuleForgets
    | Multiplied
    | Recompiled
    | RowsMisread
    | RowsOverwritten
    | OutgrownList
    | RunningTotal
    | SharedCalls
    | TracedFunction
    | UnbuiltRead
    | UpdateDiscarded
    | GradientAmplified
    | GradientUnderflow
    | LossUnscaled
    | NonfiniteBorn
    | NonfiniteEntered
    | NonfiniteSpread
    | NonfiniteSummed
    | NonfiniteUnplaced
    | NonfiniteUpdate
)
