"""What is kept of compiled training steps, so that a bad one can be replayed.

Before a call the variables it will write are read, which copies nothing: the buffers are shared until the step writes
new ones. How often is decided by what it costs: never more than a small share of the time training takes. Between
two such snapshots the inputs of the calls are kept, and the steps are repeated on copies of the variables.
"""

from __future__ import annotations

import sys
import time
import weakref
from collections.abc import Callable, Iterable, MutableMapping
from itertools import chain
from math import prod
from typing import Any, Final

import numpy as np

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.requests import Ticket
from whygrad.backends.tensorflow.log.variables import VariableBook
from whygrad.backends.tensorflow.measure.finite import bytes_of, is_finite
from whygrad.backends.tensorflow.nonfinite.replay.graphs import facts_of_graph
from whygrad.backends.tensorflow.nonfinite.replay.step_history import Call, StepHistory, TracedRequest
from whygrad.backends.tensorflow.nonfinite.replay.tap import Taps

SHARE: Final = 0.003  # of the run's time that snapshots may take
MAX_BYTES: Final = 256 * 2**20  # of variables; above this nothing is kept unless it is asked for
MAX_RECENT: Final = 512  # calls
MAX_RECENT_BYTES: Final = 64 * 2**20
UNSEEN_BATCH: Final = MAX_RECENT_BYTES // 16  # what a batch counts that cannot be looked into
SMALL_RESULT: Final = 4096  # elements; a loss, a few metrics
SMALL_VARIABLE: Final = 4096  # bytes; a rate, a temperature, a vector of weights of a loss
FEW_WRITTEN: Final = 8  # variables; where more are written between two calls, an optimizer outside moves them all
COPIED_A_SECOND: Final = 4e9  # bytes

ScaledLosses = MutableMapping[Any, dict[int, int]]  # of each graph: scaled loss -> loss
WentBad = Callable[[StepHistory], bool]  # told of a bad step; False: it does no harm


def held_back_by_guards() -> dict[int, int]:
    """Bad updates that each guard has taken away so far."""
    module = sys.modules.get("whygrad.training.guard.record")
    return {} if module is None else dict(module.held_back())


class StepHistories:
    """Follows every call of a compiled function."""

    def __init__(
        self, recorder: Recorder, variables: VariableBook, scaled: ScaledLosses, went_bad: WentBad, *, every_call: bool
    ) -> None:
        self._recorder = recorder
        self._variables = variables
        self._every_call = every_call  # keep everything, whatever it costs
        self.went_bad = went_bad
        self.requests: weakref.WeakKeyDictionary[Any, list[TracedRequest]] = weakref.WeakKeyDictionary()
        self.scaled = scaled
        self.training: weakref.WeakSet[Any] = weakref.WeakSet()  # graphs that ask for gradients, and those around them
        self._idle: weakref.WeakSet[Any] = weakref.WeakSet()
        self.by_graph: dict[int, StepHistory] = {}
        self.taps = Taps()
        self.on_step: list[Callable[[int], None]] = []  # told when so many compiled steps have run
        self.latest: StepHistory | None = None
        self.on_look: Callable[[Any, StepHistory], None] = lambda function, history: None  # before a call is made
        self._held_back = held_back_by_guards()  # bad updates that guards took away before they could show

    def traced(self, ticket: Ticket, gradients: list[Any]) -> None:
        """A request was made while a function was traced."""
        graph = ticket.tf_graph
        pairs = []
        for source, gradient in zip(ticket.entry.sources, gradients, strict=False):
            number = compat.id_of(compat.values_in(gradient))
            if number is not None:
                pairs.append((source.variable, number))
        request = TracedRequest(ticket.entry.place, ticket.entry.targets, tuple(pairs))
        self.requests.setdefault(graph, []).append(request)
        while graph is not None and hasattr(graph, "outer_graph"):
            self.training.add(graph)
            graph = graph.outer_graph

    def before(self, function: Any, arguments: tuple[Any, ...]) -> StepHistory | None:
        """A compiled function is about to run; None where it does not train."""
        if self._recorder.paused:
            return None
        history = self.by_graph.get(id(function.graph))
        if history is None:
            history = self._meet(function, function.graph)
            if history is None:
                return None
        if history.calls == 0:
            self._prepare(history, arguments)
        self.on_look(function, history)
        history.calls += 1
        history.died = False
        self.latest = history
        if history.too_large:
            return history
        if history.facts.takes_data:
            self.keep_batch(history)
        now = time.perf_counter()
        if now >= history.next_at or self._every_call:
            self._take(history, arguments, now)
        else:
            self._append(history, arguments)
        return history

    def _meet(self, function: Any, graph: Any) -> StepHistory | None:
        """The first call of a function; one that was traced before watching began shows by the names of its ops."""
        if graph in self._idle:
            return None
        facts = facts_of_graph(graph)
        if graph not in self.training and not facts.has_gradients:
            self._idle.add(graph)
            return None
        history = self.by_graph[id(graph)] = StepHistory(function, graph, facts)
        history.counts_draws = facts.draws and graph in self.training and not compat.is_compiled_as_a_whole(function)
        return history

    def keep_batch(self, history: StepHistory) -> None:
        """What the last call took from its data set, before the next one takes more."""
        if history.last is not None and history.last.batches is None and history.facts.takes_data:
            batches = history.last.batches = self.taps.batches(history.graph)
            taken = chain.from_iterable(batches or ())
            history.recent_bytes += sum(UNSEEN_BATCH if t.dtype is compat.variant_dtype else bytes_of(t) for t in taken)

    def _prepare(self, history: StepHistory, arguments: tuple[Any, ...]) -> None:
        """What is the same for every call."""
        history.data_at = tuple(i for i, tensor in enumerate(arguments) if tensor.dtype is not compat.resource_dtype)
        declared = [history.graph.inputs[i] for i in history.data_at]
        if all(tensor.shape.is_fully_defined() for tensor in declared):
            history.data_bytes = sum(map(bytes_of, declared))
        handles = [(i, arguments[i]) for i in sorted(history.facts.reads) if i < len(arguments)]
        own = self.taps.numbers
        handles = [
            (i, each) for i, each in handles if compat.tensor_id(each) not in own and compat.is_variable_handle(each)
        ]
        history.variables_at = tuple((i, compat.dtype_of_handle(handle)) for i, handle in handles)
        sizes = [compat.bytes_of_handle(handle) for _, handle in handles]
        history.small_variables = {
            compat.tensor_id(handle): place
            for (_, handle), place, size in zip(handles, history.variables_at, sizes, strict=True)
            if size <= SMALL_VARIABLE
        }
        history.variable_bytes = sum(sizes)
        history.too_large = history.variable_bytes > MAX_BYTES and not self._every_call

    def _take(self, history: StepHistory, arguments: tuple[Any, ...], now: float) -> None:
        values = _values_of(history.variables_at, arguments)
        bad = self.bad_variables(values)
        if history.snapshot is None:
            history.bad_from_start = bad
        elif not bad <= history.bad_from_start:
            self.went_bad(history)
            history.next_at = float("inf")
            return
        self.look_for_movement(history, values)
        history.snapshot, history.snapshot_at = values, history.calls
        history.changed, history.writes_seen = {}, self._variables.writes
        history.recent, history.recent_bytes, history.is_whole = [], 0, True
        self._append(history, arguments)
        # The step will copy what it writes to, for the old values are kept.
        cost = time.perf_counter() - now + history.variable_bytes / COPIED_A_SECOND
        history.next_at = now + cost / SHARE

    def look_for_movement(self, history: StepHistory, values: dict[int, Any]) -> None:
        """Compare with the variables as they were kept; once one has moved, nothing is compared any more."""
        if history.moved or history.snapshot is None:
            return
        kept, entries = history.snapshot, self._variables.entries
        trained = [n for n in values if n in kept and n in entries and entries[n].trainable]
        pairs = ((values[n].numpy(), kept[n].numpy()) for n in trained)
        history.moved = any(not np.array_equal(after, before) for after, before in pairs)

    def trains(self, history: StepHistory) -> bool:
        """Whether a call may write a variable that is trained; one that only draws samples writes none."""
        entries = self._variables.entries
        return any(number in entries and entries[number].trainable for number in history.written_variables)

    def bad_variables(self, values: dict[int, Any]) -> frozenset[int]:
        """Of those that are trained; a metric or a best loss may hold what it likes."""
        entries = self._variables.entries
        trained = ((number, entries.get(number)) for number in values)
        return frozenset(n for n, entry in trained if (entry is None or entry.trainable) and not is_finite(values[n]))

    def _append(self, history: StepHistory, arguments: tuple[Any, ...]) -> None:
        call = Call(arguments, changed=self.changed_by_others(history, arguments))
        if history.facts.runs_python:
            self._recorder.python_gave = call.python_gave
        self.keep(history, call)

    def changed_by_others(self, history: StepHistory, arguments: tuple[Any, ...]) -> dict[int, Any]:
        """Small variables that other code has written since the last call of a step, as they are before the next."""
        since, history.writes_seen = history.writes_seen, self._variables.writes
        if since == history.writes_seen:
            return {}
        entries = self._variables.entries
        places = [
            place
            for number, place in history.small_variables.items()
            if number in entries and entries[number].written_at > since
        ]
        changed = _values_of(places, arguments) if len(places) <= FEW_WRITTEN else {}
        history.changed.update(changed)
        return changed

    def keep(self, history: StepHistory, call: Call) -> None:
        """Keep a call for a replay, unless there are too many."""
        # An iterator that lives until the program ends holds that end up, for as long again as it lived.
        for place in history.facts.iterators:
            call.arguments = (*call.arguments[:place], compat.stand_in(), *call.arguments[place + 1 :])
        history.last = call
        if history.counts_draws:
            if history.seeding is not (seeding := compat.seeding()):
                history.seeding, history.seeded_at = seeding, history.calls
            call.drawn = history.calls - history.seeded_at
        if not history.is_whole:
            return
        arguments, size = call.arguments, history.data_bytes
        history.recent_bytes += sum([bytes_of(arguments[i]) for i in history.data_at]) if size is None else size
        one = len(history.recent) == 0
        if one or (len(history.recent) < MAX_RECENT and history.recent_bytes <= MAX_RECENT_BYTES):
            history.recent.append(call)
        else:
            history.is_whole = False

    def hears_all(self, history: StepHistory) -> bool:
        """Whether every call is to be looked at: it was asked for, or a guard takes bad updates away."""
        module = sys.modules.get("whygrad.training.guard.record")
        given = () if history.last is None else history.last.arguments
        return self._every_call or (
            module is not None and not module.counters().isdisjoint(map(compat.tensor_id, given))
        )

    def tell_steps(self, history: StepHistory) -> None:
        """Compiled steps have run."""
        times, history.unsaid = history.unsaid, 0
        for told in self.on_step if times else ():
            told(times)

    def after(self, history: StepHistory, results: Any, of: str = "call") -> None:
        """A call is over, or `fit` took values out of its results."""
        if of == "call":
            history.unsaid += 1
            self.tell_steps(history)
        self.look_at(history, results, of)

    def look_at(self, history: StepHistory, results: Any, of: str = "call") -> None:
        """Look at the small results: a loss, a few metrics."""
        bad = {(of, i) for i, result in enumerate(results or ()) if not _is_fine(result)} - history.harmless
        held_back, self._held_back = self._held_back, held_back_by_guards()
        history.held_back = any(count > held_back.get(guard, 0) for guard, count in self._held_back.items())
        if not bad and not history.held_back:
            return
        history.bad_results = frozenset(i for where, i in bad if where == "call")
        if self.went_bad(history) is False:
            history.harmless |= bad
            history.bad_results = frozenset()
            return
        if history.last_bad == history.calls:  # another result of the same call
            return
        history.bad_calls, history.last_bad = history.bad_calls + 1, history.calls
        if history.first_bad == 0:
            history.first_bad = history.calls


def _values_of(places: Iterable[tuple[int, int]], arguments: tuple[Any, ...]) -> dict[int, Any]:
    """The variables at these positions (each with its dtype) of the arguments, by their handles."""
    handles = ((arguments[position], kind) for position, kind in places)
    return {
        compat.tensor_id(handle): compat.run_op("ReadVariableOp", 1, [handle], ("dtype", kind))[0]
        for handle, kind in handles
    }


def _is_fine(result: Any) -> bool:
    dtype = getattr(result, "dtype", None)
    if dtype is None or not getattr(dtype, "is_floating", False) or not compat.has_values(result):
        return True
    return prod(side or 0 for side in compat.shape_of(result) or ()) > SMALL_RESULT or is_finite(result)
