"""Things that happened beside the ops."""

from __future__ import annotations

from dataclasses import dataclass

from whygrad.graph.node import VariableId
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
class Failure:
    """The exception that ended the run, as the user would read it."""

    type_name: str
    message: str
    where: SourceSpan | None = None  # the innermost expression of user code
    attribute: str | None = None  # AttributeError: the missing name
    object_type: str | None = None  # AttributeError: `module.Class` of the object asked
    object_bases: tuple[str, ...] = ()  # AttributeError: the same of the classes it is derived from
    called: str | None = None  # what the expression called, as `module.function`: the first frame beneath it


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
    raised: str | None = None  # the exception it ended with
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
class NoiseUnused:
    """A random draw under a tape that nothing uses."""

    where: SourceSpan
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomGradientForgets:
    """A custom gradient uses variables but its inner function takes no `variables`."""

    function: str
    where: SourceSpan | None
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomGradientWithholds:
    """A custom gradient returned None for one of its arguments."""

    function: str
    where: SourceSpan | None  # its `return`


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
class ForeignBody:
    """Inside a Python function that runs as an op, a value left the framework."""

    function: str
    how: str
    where: SourceSpan | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientSum:
    """Gradients of several requests were added up, of which something is to be said."""

    asked: SourceSpan | None  # where all of them were asked for
    summed: SourceSpan | None
    clipped: SourceSpan | None = None  # where each was clipped before
    noised: bool = False  # noise was added to the sum
    nested: bool = False  # the loss of one holds that of another


@dataclass(frozen=True, slots=True, kw_only=True)
class BakedState:
    """A traced function changes a Python number and depends on it."""

    name: str
    where: SourceSpan | None  # where it is changed
    read: SourceSpan | None  # where it is used
    outside: bool = False  # changed outside the traced function, after it was traced
    drawn: str = ""  # `random` or `time`: it was drawn or read while tracing
    replaced: bool = False  # it is no number but a network, and the name holds another one now


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadAttribute:
    """An attribute that the framework no longer has was set: nothing looks at it."""

    owner: str
    attribute: str
    where: SourceSpan | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableStep:
    """A step of a variable that is no plain update by an optimizer.

    A new value for it that was computed, and what became of it; rows written in place of others, made of its own
    gradient; or what an optimizer makes of a sparse gradient with repeated rows.
    """

    variable: VariableId
    where: SourceSpan | None
    seen: int = 1
    unused: bool = False  # made of the variable and its own gradient, and no op took the result
    compiled: bool = False  # computed in a compiled function, as often as that ran
    bound_to: str | None = None  # a name that held the variable, and was bound to the value
    rows: int = 0  # different ones that were written, or in a sample of the gradient
    repeated: int = 0  # of these, named more than once
    with_repeats: int = 0  # steps that named some row more than once
    optimizer: str | None = None  # its class
    made: SourceSpan | None = None  # where the optimizer was made
    difference: float = 0.0  # between the step it takes and that for the dense gradient, as a share of the latter


Event = (
    AttributeRebound
    | BakedState
    | Compiled
    | CopiedOntoItself
    | CustomGradientForgets
    | CustomGradientWithholds
    | DeadAttribute
    | FlagSet
    | ForeignBody
    | GradientSum
    | LayerCalled
    | ModelTrained
    | ModuleForgets
    | Multiplied
    | NoiseUnused
    | Recompiled
    | OutgrownList
    | SharedCalls
    | UnbuiltRead
    | VariableStep
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
