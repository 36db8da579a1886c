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
from whygrad.graph.objects import AttributeSet, Compiled, ListRead, ObjectCalled, Trained
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
class ForeignBody:
    """Inside a Python function that runs as an op, a value left the framework."""

    function: str
    how: str
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
    AttributeSet
    | BakedState
    | ClippedSum
    | Compiled
    | CustomGradientForgets
    | CustomGradientWithholds
    | ForeignBody
    | ListRead
    | NoiseUnused
    | ObjectCalled
    | RowsMisread
    | RowsOverwritten
    | RunningTotal
    | Trained
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
