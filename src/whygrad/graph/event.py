"""Things that happened beside the ops."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from whygrad.graph.node import Departure, VariableId
from whygrad.graph.nonfinite import Nonfinite, Scaled
from whygrad.graph.objects import AttributeSet, Compiled, ListRead, ObjectCalled, Trained
from whygrad.source import SourceSpan


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomGradient:
    """What became of a gradient that the user wrote: of each function, each different outcome once."""

    function: str
    where: SourceSpan | None = None  # the gradient function, from its first line to its last
    variables: tuple[str, ...] = ()  # that the function uses, where the framework asked for their gradients
    takes_variables: bool = True  # the gradient function has an argument for them
    withheld: tuple[int, ...] = ()  # the arguments for which None came back


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
    | ClippedSum
    | Compiled
    | CustomGradient
    | Departure
    | ListRead
    | ObjectCalled
    | RowsMisread
    | RowsOverwritten
    | RunningTotal
    | TracedFunction
    | Trained
    | UpdateDiscarded
    | Nonfinite
    | Scaled
)
