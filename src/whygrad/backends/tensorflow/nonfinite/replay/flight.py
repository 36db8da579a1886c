"""What is kept of compiled training steps, so that a bad one can be replayed.

Before a call the variables it will write are read, which copies nothing: the buffers are shared until the step writes
new ones. How often is decided by what it costs: never more than a small share of the time training takes. Between
two such snapshots the inputs of the calls are kept, and the steps are repeated on copies of the variables.
"""

from __future__ import annotations

import sys
import time
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.nonfinite.finite import is_finite
from whygrad.backends.tensorflow.nonfinite.replay.graphs import GraphFacts, facts_of_graph
from whygrad.backends.tensorflow.nonfinite.replay.tap import Taps

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture
    from whygrad.backends.tensorflow.log.requests import Ticket

SHARE: Final = 0.01  # of the run's time that snapshots may take
MAX_BYTES: Final = 256 * 2**20  # of variables; above this nothing is kept unless it is asked for
MAX_HISTORY: Final = 512  # calls
MAX_HISTORY_BYTES: Final = 64 * 2**20
SMALL_RESULT: Final = 4096  # elements; a loss, a few metrics
COPIED_A_SECOND: Final = 4e9  # bytes
MAX_INQUIRIES: Final = 2  # replays for one function


def held_back_by_guards() -> int:
    module = sys.modules.get("whygrad.training.guard.record")
    return 0 if module is None else int(module.held_back())


@dataclass(slots=True)
class TracedRequest:
    """A gradient that was asked for while a function was traced; the numbers are ids of its tensors."""

    place: Any
    targets: tuple[int, ...]
    gradients: tuple[tuple[int | None, int], ...]  # (variable, gradient)


@dataclass(slots=True)
class Call:
    """One call of a compiled function."""

    arguments: tuple[Any, ...]
    batch: tuple[Any, ...] | None = None  # what it took from a data set, where that is known


@dataclass(slots=True)
class Flight:
    """The recent past of one compiled function that trains."""

    function: Any  # TensorFlow's own, kept so that it can be called again
    graph: Any
    name: str
    facts: GraphFacts
    calls: int = 0
    bad_calls: int = 0
    first_bad: int = 0
    inquiries: int = 0
    snapshot: dict[int, Any] | None = None  # handle -> value, before the first call of the history
    history: list[Call] = field(default_factory=list)
    last: Call | None = None  # also where the history is not whole
    history_bytes: int = 0
    is_whole: bool = True  # the history has every call since the snapshot
    next_at: float = 0.0
    too_large: bool = False
    searched: bool = False  # for gradients that are lost in float16
    harmless: set[tuple[str, int]] = field(default_factory=set)  # results that are bad and reach no update
    bad_from_start: frozenset[int] = frozenset()  # variables that were not finite before the first call
    data_at: tuple[int, ...] = ()  # positions of the arguments that are not variables
    variables_at: tuple[tuple[int, int], ...] = ()  # positions and dtypes of those that are, and that it uses

    @property
    def snapshot_at(self) -> int:
        """The number of the call that the snapshot was taken before."""
        return self.calls - len(self.history) + 1

    @property
    def written_variables(self) -> set[int]:
        """The variables that a call may write, in whichever branch."""
        arguments = () if self.last is None else self.last.arguments
        return {arguments[i]._id for i in self.facts.writes if i < len(arguments)}


class Flights:
    """Follows every call of a compiled function."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self.every_call = False  # keep everything, whatever it costs
        self.requests: weakref.WeakKeyDictionary[Any, list[TracedRequest]] = weakref.WeakKeyDictionary()
        self.scaled: weakref.WeakKeyDictionary[Any, dict[int, int]] = weakref.WeakKeyDictionary()
        self.training: weakref.WeakSet[Any] = weakref.WeakSet()  # graphs that ask for gradients, and those around them
        self._idle: weakref.WeakSet[Any] = weakref.WeakSet()
        self.flights: dict[int, Flight] = {}
        self.taps = Taps()
        self.latest: Flight | None = None
        self._held_back = held_back_by_guards()  # bad updates that guards took away before they could show

    def traced(self, ticket: Ticket, gradients: list[Any]) -> None:
        """A request was made while a function was traced."""
        graph = ticket.tf_graph
        pairs = []
        for source, gradient in zip(ticket.entry.sources, gradients, strict=False):
            number = getattr(getattr(gradient, "values", gradient), "_id", None)
            if number is not None:
                pairs.append((source.variable, number))
        request = TracedRequest(ticket.entry.place, ticket.entry.targets, tuple(pairs))
        self.requests.setdefault(graph, []).append(request)
        while graph is not None and hasattr(graph, "outer_graph"):
            self.training.add(graph)
            graph = graph.outer_graph

    def before(self, function: Any, arguments: tuple[Any, ...]) -> Flight | None:
        """A compiled function is about to run; None where it does not train."""
        if self.capture.recorder.paused:
            return None
        flight = self.flights.get(id(function.graph))
        if flight is None:
            flight = self._meet(function, function.graph)
            if flight is None:
                return None
        if flight.calls == 0:
            self._prepare(flight, arguments)
        flight.calls += 1
        self.latest = flight
        if flight.too_large:
            return flight
        if flight.facts.takes_data:
            self.keep_batch(flight)
        now = time.perf_counter()
        if now >= flight.next_at or self.every_call:
            self._take(flight, arguments, now)
        else:
            self._append(flight, arguments)
        return flight

    def _meet(self, function: Any, graph: Any) -> Flight | None:
        """The first call of a function; one that was traced before watching began shows by the names of its ops."""
        if graph in self._idle:
            return None
        facts = facts_of_graph(graph)
        if graph not in self.training and not facts.has_gradients:
            self._idle.add(graph)
            return None
        flight = self.flights[id(graph)] = Flight(function, graph, _name(graph), facts)
        return flight

    def keep_batch(self, flight: Flight) -> None:
        """What the last call took from its data set, before the next one takes more."""
        if flight.last is not None and flight.last.batch is None and flight.facts.takes_data:
            batch = self.taps.batch(flight.graph)
            flight.last.batch = batch
            flight.history_bytes += sum(map(_bytes, batch or ()))

    def _prepare(self, flight: Flight, arguments: tuple[Any, ...]) -> None:
        """What is the same for every call."""
        flight.data_at = tuple(i for i, tensor in enumerate(arguments) if tensor.dtype is not compat.resource_dtype)
        handles = [(i, arguments[i]) for i in sorted(flight.facts.reads) if i < len(arguments)]
        own = self.taps.numbers
        handles = [(i, each) for i, each in handles if each._id not in own and compat.is_variable_handle(each)]
        flight.variables_at = tuple((i, compat.dtype_of_handle(handle)) for i, handle in handles)
        total = sum(compat.bytes_of_handle(handle) for _, handle in handles)
        flight.too_large = total > MAX_BYTES and not self.every_call

    def _take(self, flight: Flight, arguments: tuple[Any, ...], now: float) -> None:
        values = {}
        for position, kind in flight.variables_at:
            handle = arguments[position]
            values[handle._id] = compat.run_op("ReadVariableOp", 1, [handle], ("dtype", kind))[0]
        bad = self.bad_variables(values)
        if flight.snapshot is None:
            flight.bad_from_start = bad
        elif not bad <= flight.bad_from_start:
            self.capture.compiled_steps.went_bad(flight)
            flight.next_at = float("inf")
            return
        flight.snapshot, flight.history, flight.history_bytes, flight.is_whole = values, [], 0, True
        self._append(flight, arguments)
        # The step will copy what it writes to, for the old values are kept.
        cost = time.perf_counter() - now + sum(map(_bytes, values.values())) / COPIED_A_SECOND
        flight.next_at = now + cost / SHARE

    def bad_variables(self, values: dict[int, Any]) -> frozenset[int]:
        """Of those that are trained; a metric or a best loss may hold what it likes."""
        entries = self.capture.variables.entries
        trained = ((number, entries.get(number)) for number in values)
        return frozenset(n for n, entry in trained if (entry is None or entry.trainable) and not is_finite(values[n]))

    def _append(self, flight: Flight, arguments: tuple[Any, ...]) -> None:
        call = flight.last = Call(arguments)
        if not flight.is_whole:
            return
        flight.history_bytes += sum([_bytes(arguments[i]) for i in flight.data_at])
        one = len(flight.history) == 0
        if one or (len(flight.history) < MAX_HISTORY and flight.history_bytes <= MAX_HISTORY_BYTES):
            flight.history.append(call)
        else:
            flight.is_whole = False

    def after(self, flight: Flight, results: Any, of: str = "call") -> None:
        """Look at the small results: a loss, a few metrics."""
        bad = {(of, i) for i, result in enumerate(results or ()) if not _is_fine(result)} - flight.harmless
        held_back, self._held_back = self._held_back, held_back_by_guards()
        if not bad and self._held_back <= held_back:
            return
        if self.capture.compiled_steps.went_bad(flight) is False:
            flight.harmless |= bad
            return
        flight.bad_calls += 1
        if flight.first_bad == 0:
            flight.first_bad = flight.calls

    def at_the_end(self) -> None:
        """Variables that went bad behind a loss that stayed finite."""
        for flight in list(self.flights.values()):
            if flight.inquiries or flight.snapshot is None or flight.last is None:
                continue
            handles = [t for t in flight.last.arguments if t._id in flight.snapshot]
            if not self.bad_variables({t._id: compat.read_handle(t) for t in handles}) <= flight.bad_from_start:
                self.capture.compiled_steps.went_bad(flight)
            elif self.capture.scale_watch.skips_all(flight):
                flight.bad_calls = flight.calls
                self.capture.compiled_steps.went_bad(flight)
            elif flight.facts.has_half and not flight.searched:
                flight.searched = True
                self.capture.compiled_steps.look_for_underflow(flight)


def _is_fine(result: Any) -> bool:
    dtype = getattr(result, "dtype", None)
    if dtype is None or not getattr(dtype, "is_floating", False) or not hasattr(result, "_numpy"):
        return True
    size = result.shape.num_elements()
    return size is None or size > SMALL_RESULT or is_finite(result)


def _bytes(tensor: Any) -> int:
    dtype = getattr(tensor, "dtype", None)
    if dtype is None or dtype is compat.resource_dtype:
        return 0
    return int(tensor.shape.num_elements() or 0) * int(dtype.size or 0)


def _name(graph: Any) -> str:
    return str(getattr(graph, "name", "function"))
