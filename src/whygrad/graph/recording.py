"""One capture: every gradient that was asked for, every update, and what else was seen on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeVar

from whygrad.graph.event import Event
from whygrad.graph.failure import Failure
from whygrad.graph.learning import Objective
from whygrad.graph.ledger import Ledger
from whygrad.graph.node import OWN, Graph, Lapse, OpKind, Tape, TapeId, TensorId, Variable, VariableId
from whygrad.graph.numbers import GradientNumbers, TermNumbers
from whygrad.source import SourceSpan

E = TypeVar("E")


class Outcome(StrEnum):
    """What came back for one source of a gradient request."""

    PRESENT = "present"
    MISSING = "missing"  # None
    ZERO = "zero"  # every element was exactly zero
    NONFINITE = "nonfinite"
    FAILED = "failed"  # the request raised


ABSENT: Final = (Outcome.MISSING, Outcome.FAILED)


class NotATensor(StrEnum):
    """What looks like a tensor, was handed to a request, and is none."""

    SYMBOLIC = "symbolic"  # stands for the values of a later call and has none itself
    ARRAY = "array"  # a list of tensors that is to be stacked first


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Something a gradient was asked for: a variable, a tensor, or an object that is neither."""

    variable: VariableId | None = None
    tensor: TensorId | None = None
    type_name: str = ""
    not_a_tensor: NotATensor | None = None
    outcome: Outcome = Outcome.PRESENT
    sparse: bool = False  # the gradient came back as some rows and their places
    watched: int | None = None  # the id of the first op after `watch`; None: never watched by hand
    numbers: GradientNumbers | None = None  # at the steps that the request kept


OF_PYTHON: Final = "python function"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """`tape.gradient(target, sources)`; requests that look the same in every step are one, with a count."""

    tape: TapeId
    targets: tuple[TensorId, ...]
    sources: tuple[Source, ...]
    graph: Graph
    where: SourceSpan | None = None
    seen: int = 1
    order: int = 0  # the id of the op that came next
    compiled: bool = False  # asked while a function was traced
    zeros_accepted: bool = False  # the caller asked for zeros in place of None
    zeros_given: bool = False  # the caller gets zeros in place of None unasked
    target_type: str = ""  # set where the target is not a tensor
    target_not_a_tensor: NotATensor | None = None
    method: str = "gradient"  # or OF_PYTHON: the framework asked, for what a Python function in a graph is given
    model: str | None = None  # set where a model's own training step asked
    unasked: bool = False  # that step had nothing to ask for: the model lists no variable to train
    error: Failure | None = None  # the exception the request raised
    steps: tuple[int, ...] = ()  # that were kept of those that ran, counted from 0
    ran: int = 0  # steps that were counted; 0: they were not
    losses: tuple[float, ...] = ()  # the target at the steps that were kept
    of_terms: TermNumbers | None = None  # measured on request only
    lapses: tuple[Lapse, ...] = ()  # of its tape
    watched: frozenset[TensorId] = frozenset()  # tensors that its tape was told to watch

    @property
    def times(self) -> int:
        """How often it ran; what is compiled, and was not counted, counts once however often it was traced."""
        return max(1, self.ran) if self.compiled else self.seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """One gradient handed to an optimizer together with the variable it was applied to."""

    variable: VariableId
    gradient_of: frozenset[VariableId] | None  # None: its origin is not known
    missing: bool = False  # the gradient was None
    frozen: bool = False  # the variable was not trainable then; of a compiled update, when it was traced
    requests: int = 1  # how many requests were added up in it
    scale: float | None = None  # the constant factor of each of them, the loss's included; None: not known
    mean: bool = False  # each loss was a mean over its examples
    stale: bool = False  # some of them had been applied by an earlier update
    aged: bool = False  # what was added up was weighed afterwards, or taken away
    same_place: bool = True  # all were asked for by the same expression
    asked_at: tuple[SourceSpan, ...] = ()  # where they were asked for
    summed: SourceSpan | None = None
    mixed: SourceSpan | None = None  # where gradients of different variables were added up
    divided: SourceSpan | None = None  # where it was multiplied by a constant last
    loss_divided: SourceSpan | None = None  # where its loss was
    compiled: bool = False  # it was made apart from the update, and how often is not known
    beside: bool = False  # the variable took part in the pass that gave these gradients of others
    overwritten: SourceSpan | None = None  # where the variable got another value after its gradient was taken
    applied: SourceSpan | None = None  # of what is stale: where the earlier update was
    moved: SourceSpan | None = None  # where another optimizer had moved the variable by the gradient of the same loss


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """`optimizer.apply_gradients(pairs)`, counted like a request."""

    optimizer: str
    optimizer_id: int
    pairs: tuple[Pairing, ...]
    where: SourceSpan | None = None
    seen: int = 1
    order: int = 0
    stateful: bool = False  # the optimizer keeps moments
    made: SourceSpan | None = None  # where the optimizer was made
    unknown: tuple[VariableId, ...] = ()  # variables the optimizer was not built for
    runs: int | None = None  # compiled: how often it ran; None: as often as it was seen
    rate: float | None = None  # the learning rate at first; None: not known
    rates: tuple[float, ...] = ()  # what became of it, at steps that are evenly spread over all; empty: nothing
    adaptive: bool = False  # a step is as long whatever the size of the gradient
    averages: int = 1  # calls that the optimizer itself takes the mean of before it updates

    @property
    def times(self) -> int:
        """How often it ran."""
        return self.seen if self.runs is None else max(1, self.runs)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Recording:
    requests: tuple[Request, ...] = ()
    updates: tuple[Update, ...] = ()
    variables: Mapping[VariableId, Variable] = field(default_factory=dict)
    tapes: Mapping[TapeId, Tape] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    objectives: tuple[Objective, ...] = ()
    holders: Mapping[str, frozenset[VariableId]] = field(default_factory=dict)  # layer -> what it tracks
    failure: Failure | None = None
    ledger: Ledger = field(default_factory=Ledger)
    framework: str = ""  # whose words advice is given in; empty: nobody's
    sources: Mapping[str, str] = field(default_factory=dict)  # file -> its text, of all files that spans lie in

    def events_of(self, kind: type[E]) -> Iterator[E]:
        return (event for event in self.events if isinstance(event, kind))


def used_variables(recording: Recording) -> set[VariableId]:
    """The variables of the program itself: asked for, read on the way to a loss, trained, or written by user code.

    An optimizer's own, those of metrics and of whatever watches are not among them.
    """
    asked = {source.variable for request in recording.requests for source in request.sources}
    read = {op.variable for request in recording.requests for op in request.graph.ops if op.kind is OpKind.READ}
    trained = {pair.variable for update in recording.updates for pair in update.pairs}
    written = {number for number, variable in recording.variables.items() if variable.writes}
    known = {number for number, variable in recording.variables.items() if not variable.name.startswith(OWN)}
    return known & (asked | read | trained | written)
