"""Things that happened beside the ops."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from whygrad.graph.node import Departure, VariableId
from whygrad.graph.nonfinite import Nonfinite, Scaled
from whygrad.graph.objects import AttributeSet, Compiled, ListRead, ObjectCalled, Trained
from whygrad.source import SourceSpan


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """How the loss changes with one element of an argument, by the user's formula and by trying it out."""

    argument: int
    value: float  # of the element
    stated: float
    measured: float
    straight: bool = False  # the function is a straight line there, as far as one can see


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomGradient:
    """What became of a gradient that the user wrote: of each function, each different outcome once."""

    function: str
    where: SourceSpan | None = None  # the gradient function, from its first line to its last
    variables: tuple[str, ...] = ()  # that the function uses, where the framework asked for their gradients
    takes_variables: bool = True  # the gradient function has an argument for them
    withheld: tuple[int, ...] = ()  # the arguments for which None came back
    probes: tuple[Probe, ...] = ()  # of some elements; none of an argument that the function gives back as it is
    factors: tuple[float, ...] = ()  # constants in the formula; -1 for each change of sign
    bounded: bool = False  # the formula clips, compares, selects or stops
    ignores_upstream: bool = False  # it never reads the gradient that came in, which was not one


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientChange:
    """Gradients were added up or clipped, and something is to be said of it."""

    asked: SourceSpan | None  # where all of them were asked for
    summed: SourceSpan | None = None
    clipped: SourceSpan | None = None  # where each was clipped before
    unused: bool = False  # nothing takes what was clipped; the gradients are applied as they were
    noised: bool = False  # noise was added to the sum
    nested: bool = False  # the loss of one holds that of another
    added_by_position: tuple[VariableId, ...] = ()  # whose sparse gradients were: the values of different rows


class NameKind(StrEnum):
    """What a name in a traced function stands for."""

    NUMBER = "number"
    NETWORK = "network"  # something that holds weights: a layer, a model, an optimizer
    OBJECT = "object"  # one of the user's own; changed: it had numbers in it, and is another one now
    FUNCTION = "function"
    TENSOR = "tensor"  # without a value: a result that was left there while the function was traced


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedName:
    """A name in a traced function: Python looked at it once, while tracing."""

    name: str  # as it is written: `beta`, `self.rate`, `np.random.normal`
    kind: NameKind
    changed: bool = False  # it stood for something else after the function had been traced
    changed_at: SourceSpan | None = None  # where that was set, if it was seen
    closed_over: bool = False  # of a function around it
    classes: tuple[str, ...] = ()  # of an object of the user's: its class and those it inherits from, in the same file
    functions: tuple[str, ...] = ()  # full names: of the function, or of those that a user's own function calls


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedFunction:
    """A function of the user's whose Python ran while it was traced."""

    where: SourceSpan  # an expression in it
    ran_again: bool = False  # what was traced ran again, without its Python
    names: tuple[TracedName, ...] = ()


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
    AttributeSet
    | Compiled
    | CustomGradient
    | Departure
    | GradientChange
    | ListRead
    | Nonfinite
    | ObjectCalled
    | Scaled
    | TracedFunction
    | Trained
    | VariableStep
)
