"""Gradient requests: what was asked of which tape, and what came back."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Protocol

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.episode import Episode, Episodes
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.tapes import TapeFacts, Tapes
from whygrad.backends.tensorflow.log.variables import VariableBook, handle_id
from whygrad.backends.tensorflow.measure.finite import array_of, square_sum
from whygrad.graph import Graph, Lapse, Outcome, TensorId
from whygrad.graph.recording import OF_PYTHON
from whygrad.observe.fact import OpFact
from whygrad.observe.label import Asked, Label
from whygrad.observe.loss import loss_form
from whygrad.observe.place import Place
from whygrad.source.position import Position

KEPT_PER_PLACE = 64  # distinct requests kept for one place in the code; the rest are only counted
GRADIENT = "GradientRequest"
SETTLED = (8, 64, 512)  # after so many alike steps what is found is told, before the program ends


@dataclass(slots=True)
class SourceEntry:
    variable: int | None
    tensor: int | None
    type_name: str
    outcome: Outcome
    watched: int | None
    zero_looks: int = 0
    sparse: bool = False


@dataclass(slots=True)
class RequestEntry:
    """One request, or many that look the same."""

    tape: int
    place: Any
    method: str
    targets: tuple[int, ...]
    target_type: str
    sources: list[SourceEntry]
    zeros_accepted: bool
    compiled: bool
    order: int
    graph: Graph = field(default_factory=Graph)
    count: int = 1
    looks: int = 0
    error: str | None = None
    model: str | None = None
    lapses: tuple[Lapse, ...] = ()
    watched: frozenset[TensorId] = frozenset()
    unasked: bool = False


@dataclass(slots=True)
class Ticket:
    """Between asking and answering."""

    entry: RequestEntry
    paused: bool
    tf_graph: Any
    tape: Any
    raw_targets: list[Any]
    raw_sources: list[Any]
    recorded: Any  # what the tape holds before it answers
    output_gradients: list[Any] | None  # None: ones
    episode: Episode | None  # None: the values of the step are not kept
    is_forward: bool = False  # forward mode asked for itself


class Training(Protocol):
    """Knows the training loop that the framework itself runs, and the lists that the user reads from its objects."""

    def training_model(self) -> str | None: ...
    def training_place(self) -> Place: ...
    def list_was_used(self, value: Any) -> None: ...


Freeze = Callable[[RequestEntry, TapeFacts, Any], Graph]  # what a request reaches, in a function graph or None


class Requests:
    def __init__(
        self, recorder: Recorder, variables: VariableBook, tapes: Tapes, episodes: Episodes, training: Training
    ) -> None:
        self._recorder = recorder
        self._variables = variables
        self._tapes = tapes
        self._episodes = episodes
        self._training = training
        self.freeze: Freeze = lambda *_: Graph()
        self.hush: Callable[[], Callable[[], None] | None] = lambda: None  # stops the listening; returns what ends that
        self.on_answer: list[Callable[[Ticket, list[Any], list[float]], None]] = []  # eager, with the sums of squares
        self.on_eager: list[Callable[[Ticket, list[Any], list[float]], None]] = []  # the same, but for Jacobians
        self.on_traced: list[Callable[[Ticket, list[Any]], None]] = []
        self.entries: dict[Any, RequestEntry] = {}
        self._alike: dict[Any, object] = {}  # what was asked -> the target of the last entry that asks it
        self.tape_facts: dict[int, TapeFacts] = {}  # of the tapes that entries were asked of
        self.per_place: dict[Any, int] = {}
        self.total = 0

    def begin(
        self, tape: Any, target: Any, sources: Any, method: str, unconnected: Any, given: Any = None
    ) -> Ticket | None:
        recorder, training = self._recorder, self._training
        recorder.asking += 1
        if recorder.asking > 1 or recorder.replaying:
            return None
        facts, frame = self._tapes.of(tape), sys._getframe(3)
        is_forward = compat.asks_for_itself(frame.f_code)
        raw = compat.flatten(sources)
        raw_targets = compat.flatten(target)
        targets = [_tensor_of(item) for item in raw_targets]
        entry = RequestEntry(
            tape=facts.number,
            place=None if is_forward else self._place(frame),
            method=method,
            targets=tuple(number for number in targets if number is not None),
            target_type=_odd_type(target),
            sources=[self._source(item, facts) for item in raw],
            zeros_accepted=getattr(unconnected, "value", unconnected) == "zero",
            compiled=facts.graph is not None,
            order=recorder.now + 1,
            model=training.training_model(),
        )
        training.list_was_used(sources)
        if facts.used_up is None:
            facts.used_up = entry.place
        others = [number for number in recorder.tapes if number != facts.number or facts.persistent]
        graph = compat.current_graph()
        if not others:
            recorder.paused += 1
            if graph is None and recorder.spy is None and recorder.python_bodies is None:
                recorder.listen_again = self.hush()  # ops of TensorFlow's own gradients leave no trace
        return Ticket(
            entry,
            not others,
            graph,
            tape,
            raw_targets,
            raw,
            compat.recorded_by(tape),
            None if given is None else compat.flatten(given),
            self._episodes.of_tape.get(tape),
            is_forward,
        )

    def _place(self, frame: FrameType) -> Place:
        """None: it is TensorFlow's own."""
        return self._recorder.places.at(frame) or self._training.training_place()

    def left_unasked(self, tape: Any, loss: Any) -> None:
        """A training step computed this loss and goes on without asking for a gradient."""
        ticket = self.begin(tape, loss, (), "gradient", None)
        if ticket is not None:
            ticket.entry.unasked = True
        self.done(ticket, ())

    def _source(self, item: Any, facts: Any) -> SourceEntry:
        entry = self._variables.of(item) if hasattr(item, "assign") else None
        tensor = None if entry is not None else compat.id_of(item)
        number = entry.id if entry is not None else tensor
        return SourceEntry(
            variable=None if entry is None else entry.id,
            tensor=tensor,
            type_name="" if number is not None else type(item).__name__,
            outcome=Outcome.PRESENT,
            watched=facts.watched.get(number) if number is not None else None,
        )

    def failed(self, ticket: Ticket | None, error: BaseException) -> None:
        self._resume(ticket)
        if ticket is None:
            return
        for source in ticket.entry.sources:
            source.outcome = Outcome.FAILED
        ticket.entry.error = f"{type(error).__name__}: {error}"
        self._keep(ticket, ())

    def done(self, ticket: Ticket | None, result: Any) -> None:
        self._resume(ticket)
        if ticket is None:
            return
        gradients = _flat_results(result, len(ticket.entry.sources))
        if self._recorder.listening_in and all(gradient is not None for gradient in gradients):
            return  # a part of another request, and nothing is missing in it
        for source, gradient in zip(ticket.entry.sources, gradients, strict=False):
            source.sparse = compat.is_sparse(gradient)
            if gradient is None:
                source.outcome = Outcome.MISSING
        if ticket.tf_graph is None:
            squares = [0.0 if gradient is None else square_sum(gradient) for gradient in gradients]
            for look in (*self.on_answer, *(self.on_eager if ticket.entry.method == "gradient" else ())):
                look(ticket, gradients, squares)
        self._label(ticket, gradients)
        self._keep(ticket, gradients)
        if ticket.tf_graph is None:
            self._episodes.answered(map(compat.values_in, gradients))
        for follow in self.on_traced if ticket.tf_graph is not None else ():
            follow(ticket, gradients)

    def _resume(self, ticket: Ticket | None) -> None:
        self._recorder.asking -= 1
        if not self._recorder.asking:
            self._recorder.wake()
        if ticket is not None and ticket.paused:
            self._recorder.paused -= 1
        if ticket is not None:
            self._episodes.asked(ticket.tape, again=self._tapes.of(ticket.tape).persistent)

    def _label(self, ticket: Ticket, gradients: list[Any]) -> None:
        """Remember whose gradient each result is; an unrecorded request is an op of its own."""
        recorder, entry = self._recorder, ticket.entry
        known, maker = recorder.labels.tensors, recorder.observed.maker_in(ticket.tf_graph)
        form = loss_form(entry.targets, maker, recorder.labels.constants)
        asked = Asked(
            number=self.total,
            place=entry.place,
            made=_made_at(maker(entry.targets[0])) if entry.targets and ticket.tf_graph is None else None,
            tape=entry.tape,
            function=recorder.observed.function_number(ticket.tf_graph),
            at=recorder.now,
            mean=form.mean,
            divided=form.divided,
            targets=tuple(entry.targets),
            given=tuple(compat.id_of(each) or -1 for each in ticket.output_gradients or () if each is not None),
        )
        carries = frozenset[int]()
        if self._tapes.of(ticket.tape).persistent:
            carries = recorder.folds.carried.inside(entry.tape, entry.targets, self.total, maker)
        requests = frozenset({asked})
        tensors: dict[int, Any] = {}  # equal gradients may be one tensor
        for source, gradient in zip(entry.sources, gradients, strict=False):
            values = compat.values_in(gradient)
            number = compat.id_of(values)
            if number is None:
                continue
            tensors[number] = values
            if source.variable is not None:
                before = known.get(number)
                others = before.variables if before is not None and asked in before.requests else frozenset()
                rows = _rows_of(gradient) if source.sparse and ticket.tf_graph is None else 0
                of = others | {source.variable}
                known[number] = Label(of, requests, form.scale, carries=carries, rows=rows)
        if ticket.paused and tensors:
            sources = [number for s in entry.sources if (number := s.tensor or s.variable) is not None]
            inputs = [*entry.targets, *sources]
            recorder.add_virtual(GRADIENT, inputs, [*tensors.values()], entry.place, ticket.tf_graph)

    def _keep(self, ticket: Ticket, gradients: Any) -> None:
        entry = ticket.entry
        is_own = entry.place is None and not ticket.is_forward  # for a Python function inside a graph
        if is_own and all(source.outcome is Outcome.MISSING for source in entry.sources):
            target = self._target_of(ticket)
            entry.place, entry.method = target[0] if isinstance(target, tuple) else None, OF_PYTHON
        if entry.place is None:
            return  # TensorFlow's own request, as inside a py_function
        self.total += 1
        asked = (entry.place, entry.method, tuple((s.variable, s.type_name, s.outcome) for s in entry.sources))
        key = (asked, self._target_of(ticket) or self._alike.get(asked))
        known = self.entries.get(key)
        if known is not None:
            known.count += 1
            if self._look_for_zeros(known, gradients):
                self._replace(known, ticket)
            if known.count in SETTLED:
                self._recorder.settled()
            return
        kept = self.per_place.get(entry.place, 0)
        if kept >= KEPT_PER_PLACE:
            return
        self.per_place[entry.place] = kept + 1
        self.tape_facts[entry.tape] = tape = self._tapes.of(ticket.tape)
        entry.graph = self.freeze(entry, tape, ticket.tf_graph)
        self.entries[key] = entry
        self._alike[asked] = key[1]
        self._look_for_zeros(entry, gradients)

    def _target_of(self, ticket: Ticket) -> object:
        """Where the target was made; None: not known, as of a second replica. A trace may be made again by others."""
        maker = self._recorder.observed.maker_in(ticket.tf_graph)
        op = maker(ticket.entry.targets[0]) if ticket.entry.targets else None
        if op is None or op.place is None:
            return None
        return _made_at(op) if ticket.tf_graph is None else op.place

    def _replace(self, known: RequestEntry, ticket: Ticket) -> None:
        """Take this step's graph for the first one's: its products were looked at."""
        entry = ticket.entry
        self.tape_facts[entry.tape] = tape = self._tapes.of(ticket.tape)
        known.graph = self.freeze(entry, tape, ticket.tf_graph)
        known.tape, known.targets, known.lapses, known.watched = entry.tape, entry.targets, entry.lapses, entry.watched
        for before, now in zip(known.sources, entry.sources, strict=True):
            before.tensor, before.watched = now.tensor, now.watched

    def _look_for_zeros(self, entry: RequestEntry, gradients: Any) -> bool:
        """Look at the values themselves at steps 1 to 4, 8, 16, ...: cheap, and enough to say `always`.

        Whether all were zero once more after the step in which that was first seen.
        """
        if entry.compiled or (entry.count > 4 and entry.count & (entry.count - 1)):
            return False
        with self._recorder.pausing():
            entry.looks += 1
            for source, gradient in zip(entry.sources, gradients, strict=False):
                values = compat.values_in(gradient)
                array = None if values is None else array_of(values)
                if array is not None and array.size and not array.any():
                    source.zero_looks += 1
        given = [source for source in entry.sources if source.outcome is Outcome.PRESENT]
        all_zero = bool(given) and all(source.zero_looks == entry.looks for source in given)
        sought, self._recorder.seeking_zeros = self._recorder.seeking_zeros, all_zero and entry.looks == 1
        return sought and all_zero and entry.looks == 2


def _made_at(op: OpFact | None) -> tuple[Place, tuple[Position, ...]] | None:
    """Where a target was made: micro-batches share it, different losses do not."""
    return None if op is None else (op.place, op.callers[:1])


def _tensor_of(item: Any) -> int | None:
    number: int | None = compat.id_of(item)
    return handle_id(item) if number is None else number


def _odd_type(target: Any) -> str:
    """The type of a target that is no tensor, such as a TensorArray."""
    flat = compat.flatten(target)
    odd = [item for item in flat if compat.id_of(item) is None and not hasattr(item, "assign")]
    if not odd:
        return ""
    is_array = hasattr(odd[0], "flow") and hasattr(odd[0], "stack")  # it may be wrapped
    return "TensorArray" if is_array else type(odd[0]).__name__


def _flat_results(result: Any, count: int) -> list[Any]:
    if result is None:
        return [None] * count
    flat = compat.flatten(result)
    return list(flat)


def _rows_of(slices: Any) -> int:
    """A number that is the same for sparse gradients of the same rows in the same order."""
    return hash(compat.array_view(slices.indices).tobytes()) or 1
