"""The one mutable thing of a capture: a bounded log of what TensorFlow ran.

Eager ops and traced ops are logged alike; TensorFlow gives both kinds of tensors ids from one counter.
"""

from __future__ import annotations

import functools
import itertools
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.autograph import Places
from whygrad.backends.tensorflow.log.custom_calls import CustomCalls
from whygrad.backends.tensorflow.log.episode import Aftermath, Episode
from whygrad.backends.tensorflow.log.function_graphs import (
    FUNCTIONAL_OPS,
    called_graphs,
    functional_graphs,
    outermost_handle,
)
from whygrad.backends.tensorflow.log.ledger.ledger import LedgerBook
from whygrad.backends.tensorflow.log.observed import Observed
from whygrad.backends.tensorflow.log.op_record import CUSTOM, Departure, Leaf, OpRecord, TraceLog, facts_of
from whygrad.backends.tensorflow.log.op_table import DRAWING, FLAT_AT_ZERO, writes
from whygrad.backends.tensorflow.log.python_bodies import PythonBodies
from whygrad.backends.tensorflow.log.stack import callers_of, is_users_own, variables_read
from whygrad.backends.tensorflow.log.traced_functions import TracedFunctions
from whygrad.backends.tensorflow.log.variables import VariableBook, VariableEntry
from whygrad.backends.tensorflow.measure.finite import array_of, is_finite_number
from whygrad.graph import Action, Event, OpKind
from whygrad.observe.label import Label
from whygrad.observe.place import Place
from whygrad.source.position import Position, user_frame

KEPT_OPS = 20_000  # a generation ends when a step begins after an update, or after so many ops outside any tape
KEPT_STEPS = 16  # generations, of small steps; what one network makes, another may take after several updates
_SETTLED = (32, 512)  # calls after which it shows that a gradient never comes
_SEVERAL = 4096  # values of a tensor that are looked at

_OPERANDS = frozenset({"ReadVariableOp", "Const", "Shape"})  # made on the way to a value, never the value itself


class _OfThread(NamedTuple):
    """What the recorder keeps for each thread, as it is at first."""

    tapes: tuple[int, ...] = ()
    layers: tuple[str, ...] = ()
    custom: tuple[str, ...] = ()
    laid_at: OpRecord | None = None
    paused: int = 0
    asking: int = 0  # gradient requests inside gradient requests
    applying: int = 0  # updates inside updates


class Recorder:
    """What ran lately. Old generations are dropped, so memory stays flat however long a run is."""

    def __init__(self, variables: VariableBook) -> None:
        self.variables = variables
        self.sequence = itertools.count(1)
        self.now = 0
        self.records: deque[OpRecord] = deque()
        self.producers: dict[int, OpRecord | None] = {}  # None: a leaf or a handle
        self.leaves: dict[int, Leaf] = {}
        self.places = Places()
        self.departures: deque[Departure] = deque()
        self.python_gave: dict[str, list[Any]] = {}  # by ops of a compiled step that run Python: what they gave
        self.python_bodies: PythonBodies | None = None  # made when such a function runs
        self.events: list[Event] = []  # that are known at once
        self.custom_calls = CustomCalls()
        self.traces: weakref.WeakKeyDictionary[Any, TraceLog] = weakref.WeakKeyDictionary()
        self.observed = Observed(variables, self.producers, self.traces)
        self.folds = self.observed.folds
        self.labels, self._bound_names = self.folds.labels, self.folds.names
        self.ledger = LedgerBook(variables, self.traces)
        self.untraced: weakref.WeakKeyDictionary[Any, list[OpRecord]] = weakref.WeakKeyDictionary()
        self.open_tapes = 0  # in all threads
        self.merging = 0  # updates that a strategy hands over from its replicas to the thread that started them
        self._take(_OfThread())
        self._other_threads: dict[int, _OfThread] = {}
        self.episode: Episode | None = None  # what a replay of the present step would need
        self.aftermath: Aftermath | None = None  # what a replay would need of what was computed with gradients since
        self.replaying = False  # the program's own functions run for us: their tapes and requests are none of its own
        self.spy: Callable[..., None] | None = None  # told of eager ops while paused
        self.listen_again: Callable[[], None] | None = None  # there while TensorFlow need not tell us of ops
        self.listening_in = False  # a gradient that the user wrote runs, and asks a tape of its own
        self._stopping = False
        self._around: tuple[Position, ...] = ()  # the user's frames around the op being logged
        self.dropped_before = 0
        self.updated = False  # since the last step began
        self.seeking_zeros = False  # all gradients of a step were zero: the factors of the next one are looked at
        self.traced = TracedFunctions()
        self.calls_seen = 0
        self._settles_at = _SETTLED[0]
        self._passed: dict[int, Any] = {}  # results of calls that were not logged -> the graph that was called
        self.calling = threading.local()  # `graph`: that of the function which is called now, where it is known
        self.still_needed: Callable[[], list[tuple[int, int]]] = list
        self.on_settled: list[Callable[[], None]] = []  # enough steps were seen to tell that a gradient never comes
        self.on_call: list[Callable[[], None]] = []  # a traced function was called
        self.on_write: Callable[[VariableEntry, OpRecord, Any, Label], None] | None = None
        self.on_given: Callable[[VariableEntry, OpRecord, Any], None] | None = None  # what was computed with gradients
        self._generation_starts: deque[int] = deque([0])
        self._spared = 0  # ops that were kept for a tape that may still be asked

    def change_thread(self, before: int, now: int) -> None:
        """Another thread takes over: its own tapes and layers are the open ones."""
        self._other_threads[before] = _OfThread(
            self.tapes, self.layers, self.custom, self.laid_at, self.paused, self.asking, self.applying
        )
        self._take(self._other_threads.pop(now, _OfThread()))

    def _take(self, thread: _OfThread) -> None:
        self.tapes, self.layers, self.custom, self.laid_at = thread.tapes, thread.layers, thread.custom, thread.laid_at
        self.paused, self.asking, self.applying = thread.paused, thread.asking, thread.applying

    @contextmanager
    def pausing(self) -> Iterator[None]:
        """Ops of our own run inside, which are none of the program's."""
        self.paused += 1
        try:
            yield
        finally:
            self.paused -= 1

    def wake(self) -> None:
        """Hear of ops again: code of the user's own may run from here on."""
        again, self.listen_again = self.listen_again, None
        if again is not None:
            again()

    # -- ops -------------------------------------------------------------------------------------

    def on_op(self, op_type: str | bytes, inputs: Any, attrs: Any, outputs: Any, graph: Any, frame: FrameType) -> None:
        """Called after every op, with the frame that ran it."""
        if self.paused or self.merging:
            if not self.paused and compat.in_replica():
                return  # the forward pass of another replica, while the first waits for it in its update
            if self.spy is not None and graph is None:
                self.spy(op_type, inputs, attrs, outputs, frame)
            if self.ledger.optimizer:
                self._note_update(op_type, inputs, graph, frame)
            return
        if self.listening_in and self.spy is not None and graph is None:
            self.spy(op_type, inputs, attrs, outputs, frame)
        name = op_type.decode() if isinstance(op_type, bytes) else op_type
        if graph is None:
            self._log_eager(name, inputs, attrs, outputs, frame)
        elif compat.is_function_graph(graph):  # else a plain graph, of version 1 or made to try: no tape sees it
            self._log_traced(name, inputs, attrs, outputs, frame, graph)

    def ignores(self, op_type: str | bytes) -> bool:
        """Whether an op would leave no trace: one of our own, or of an optimizer, that writes nothing."""
        return self.paused > 0 and self.spy is None and not self.tapes and not writes(op_type)

    def _log_eager(self, name: str, inputs: Any, attrs: Any, outputs: Any, frame: FrameType) -> None:
        found = user_frame(frame)
        place = self.places.of(found)
        self._around = callers_of(found, self.places.position)
        known = self.producers
        # TensorFlow halts the tapes around these: one is the cut itself, the other is recorded as a whole.
        self._stopping = name == "StopGradient" or name.startswith("__forward_")
        ids = tuple(map(compat.tensor_id, inputs))
        if not all(map(known.__contains__, ids)):
            self._meet_all(inputs, place, frame)
        record = self._new_record(name, ids, outputs, place)
        record.attrs = attrs
        if name == "StopGradient":
            _take_in(record, known.get)
        if self.seeking_zeros and record.tapes and _is_product(record):
            record.blank = tuple(i for i, tensor in enumerate(inputs) if compat.is_blank(compat.array_view(tensor)))
        elif self.seeking_zeros and record.tapes and name in FLAT_AT_ZERO and outputs:
            record.flat = compat.is_blank(compat.array_view(outputs[0]))
        if name.startswith("__"):
            called = getattr(self.calling, "graph", None)
            record.calls = called_graphs(frame) if called is None else (called,)
            ran = [graph for graph in record.calls if graph is not None]
            self.ledger.ran(ran)
            self.traced.ran(ran)
            self._note_call()
        elif record.kind is OpKind.WRITE:
            self._note_write(ids[0], record, inputs, frame, None)
        if ids and ids[0] in self.variables.entries:
            record.variable = ids[0]
            if record.kind in DRAWING:  # a generator, which moves on
                self.variables.wrote(self.variables.entries[ids[0]])
        labels = self.labels
        if labels.tensors or labels.variables:
            self.observed.op(record, inputs, outputs, None)
        if found is not None:
            sites = self._bound_names.sites.get(id(found.f_code))
            if sites is None or (sites and name not in _OPERANDS):
                self._bound_names.look(record, found)
        for facts in record.outputs:
            known[facts.id] = record
        self.records.append(record)
        for episode in (self.episode, self.aftermath):
            if episode is not None:
                episode.hold(record, inputs, outputs, known)
        if len(self.records) > 2 * KEPT_OPS + self._spared:
            self.trim()

    def _note_scalar(self, tensor: Any) -> None:
        value = compat.constant_value(tensor)
        if value is not None:
            self.labels.constants[compat.tensor_id(tensor)] = float(value)

    def _note_call(self) -> None:
        """Traced steps ask for their gradients once; that they run is all one sees of them afterwards."""
        self.calls_seen += 1
        for told in self.on_call:
            told()
        if self.calls_seen >= self._settles_at:
            self._settles_at = _SETTLED[1] if self.calls_seen < _SETTLED[1] else sys.maxsize
            self.settled()

    @property
    def is_busy(self) -> bool:
        """Whether more is going on than a call from a plain loop."""
        return bool(self.paused or self.merging or self.tapes or self.episode is not None or self.folds.steps.waits)

    def passed(self, results: Iterable[Any], graph: Any) -> None:
        """A function that is known well was called: the call is logged only where its results are used."""
        self.calls_seen += 1
        self.now = next(self.sequence)
        self.passed_on(results, graph)

    def passed_on(self, results: Iterable[Any], graph: Any) -> None:
        """These came out of such a call."""
        passed = self._passed
        for tensor in results:
            passed[compat.tensor_id(tensor)] = graph
        if len(passed) > KEPT_OPS:
            for number in list(itertools.islice(passed, KEPT_OPS // 2)):
                del passed[number]

    def passed_on_by(self, tensor: Any) -> Any:
        """The graph that was called where a tensor came out of a call that passed."""
        number = compat.id_of(tensor)
        return None if number is None else self._passed.get(number)

    def settled(self) -> None:
        for look_again in self.on_settled:
            look_again()

    def _note_update(self, op_type: str | bytes, inputs: Any, graph: Any, frame: FrameType) -> None:
        """An optimizer's own ops are not logged, but its writes are in the ledger."""
        if not writes(op_type) or not inputs:
            return
        name = op_type.decode() if isinstance(op_type, bytes) else op_type
        if graph is not None and graph.name == "initialize_variables":
            return
        handle = compat.tensor_id(inputs[0]) if graph is None else outermost_handle(compat.tensor_id(inputs[0]), graph)
        entry = self.variables.meet_handle(handle, frame)
        if entry is not None:
            self.ledger.note(entry, name, self.ledger.place, frame, self.layers, graph)
            if graph is None:
                self.variables.wrote(entry)

    def _note_write(self, handle: int, record: OpRecord, inputs: Any, frame: FrameType, graph: Any) -> None:
        entry = self.variables.meet_handle(handle, frame)
        if entry is not None:
            entry.last_write = record.place
            if graph is None:
                self.variables.wrote(entry)
            self.ledger.note(entry, record.type, record.place, frame, self.layers, graph)
        if entry is not None and is_users_own(frame):
            entry.writes += 1
            if record.action is Action.ASSIGN:
                record.variable = entry.id
                self.folds.assignments.note(record, self.observed.maker_in(graph))
            if self.on_write is not None and entry.trainable and len(record.inputs) > 1:  # may be an update by hand
                if graph is None and self.on_given is not None:
                    self.on_given(entry, record, inputs[1])
                self.observed.await_label(inputs[1], graph, functools.partial(self.on_write, entry, record, graph))

    def _log_traced(self, name: str, inputs: Any, attrs: Any, outputs: Any, frame: FrameType, graph: Any) -> None:
        log = self.traces.get(graph)
        if log is None:
            log = self.traces[graph] = TraceLog(self.observed.functions.of(graph))
        ids = tuple(compat.tensor_id(tensor) for tensor in inputs)
        found = user_frame(frame)
        self.traced.look(frame, found, graph, self.now, self.places.of)
        self._stopping = name == "StopGradient"
        self._around = callers_of(found)
        record = self._new_record(name, ids, outputs, self.places.of(found))
        record.attrs, record.function = attrs, log.function
        if name == "StopGradient":
            _take_in(record, log.makers.get)
        if record.tapes and _is_product(record):
            record.blank = tuple(i for i, tensor in enumerate(inputs) if compat.is_blank(compat.constant_value(tensor)))
        handle = outermost_handle(ids[0], graph) if ids and inputs[0].dtype is compat.resource_dtype else None
        if name in FUNCTIONAL_OPS and outputs:
            record.calls = functional_graphs(outputs[0].op, graph)
        elif record.kind is OpKind.WRITE and handle is not None and graph.name != "initialize_variables":
            self._note_write(handle, record, inputs, frame, graph)
        if handle in self.variables.entries:
            record.variable = handle
        log.add(record)
        if name == "Const" and record.outputs[0].shape == () and record.outputs[0].dtype.is_floating:
            self._note_scalar(outputs[0])
        if self.labels.tensors or self.labels.variables:
            self.observed.op(record, inputs, outputs, graph)
        if found is not None and name not in _OPERANDS:
            self._bound_names.look(record, found)

    def ops_of(self, graph: Any) -> Iterable[OpRecord]:
        """The ops that ran at once, or those of a graph."""
        if graph is None:
            return self.records
        return self.traces[graph].records if graph in self.traces else ()

    def _new_record(self, name: str, ids: tuple[int, ...], outputs: Iterable[Any], place: Place) -> OpRecord:
        self.now = sequence = next(self.sequence)
        record = OpRecord(sequence, name, ids, tuple([facts_of(tensor) for tensor in outputs]))
        record.place = place
        record.callers = self._around
        if self.tapes and (not compat.recording_is_stopped() or self._stopping):
            record.tapes = self.tapes
        record.layers = self.layers
        record.laid_at = self.laid_at
        if self.custom:
            record.custom = self.custom[-1]
        return record

    def add_virtual(
        self, name: str, inputs: Iterable[int], outputs: Sequence[Any], place: Place, graph: Any = None
    ) -> OpRecord:
        """Log something that is not an op of TensorFlow's: a custom gradient, the result of a request."""
        record = self._new_record(name, tuple(inputs), outputs, place)
        self.folds.steps.use(record.inputs)
        if graph is None:
            self.producers.update((facts.id, record) for facts in record.outputs)
            self.records.append(record)
            if self.episode is not None and name != CUSTOM:
                self.episode.held.update((compat.tensor_id(tensor), tensor) for tensor in outputs)
        else:
            if graph not in self.traces:
                self.traces[graph] = TraceLog(self.observed.functions.of(graph))
            self.traces[graph].add(record)
        return record

    # -- tensors that no op made -----------------------------------------------------------------

    def _meet_all(self, inputs: Any, place: Place, frame: FrameType) -> None:
        """Some of these were made by no op that was seen."""
        read = variables_read(frame, inputs, self.producers)
        for tensor in inputs:
            number = compat.tensor_id(tensor)
            if number not in self.producers:
                self._meet(tensor, number, read.get(number), place, frame)

    def _meet(self, tensor: Any, number: int, handle: Any, place: Place, frame: FrameType) -> None:
        """A tensor that no op made; with a handle, the value of that variable."""
        graph = self._passed.pop(number, None)
        if graph is not None:
            made = self.producers[number] = self._new_record("__inference", (), (tensor,), None)
            made.calls, made.tapes, made.layers = (graph,), (), ()
            self.records.append(made)
            return
        self.producers[number] = None
        if tensor.dtype is compat.resource_dtype:
            self.variables.meet_handle(number, frame)
            return
        if handle is not None:
            self.variables.meet_handle(compat.tensor_id(handle), frame)
            read = self._new_record("ReadVariableOp", (compat.tensor_id(handle),), (tensor,), place)
            read.variable = compat.tensor_id(handle)
            self.producers[compat.tensor_id(handle)] = None
            self.producers[number] = read
            self.records.append(read)
            if self.episode is not None:
                self.episode.held[number] = tensor
            return
        facts = facts_of(tensor)
        if facts.shape == () and facts.dtype.is_floating:
            self.labels.constants[number] = float(compat.array_view(tensor))
        self.leaves[number] = Leaf(facts, self.now, place)

    # -- leaving ---------------------------------------------------------------------------------

    def on_departure(self, tensor: int, how: str, value: Any, place: Place) -> None:
        """A tensor left as a value of Python's or NumPy's."""
        self.folds.steps.use((tensor,))
        self.departures.append(Departure(tensor, how, self.now, place, bad=not is_finite_number(value)))

    def on_numpy_function(self, inputs: Any, results: Any, frame: FrameType) -> None:
        """A Python function ran at once, on arrays, where a traced function would have an op for it."""
        if self.paused:
            return
        found = user_frame(frame)
        place, self._around, ids = self.places.of(found), callers_of(found), []
        for item in compat.flatten(inputs):
            entry = self.variables.of(item) if hasattr(item, "assign") else None
            number = compat.id_of(item) if entry is None else entry.id
            if number is not None:
                ids.append(number)
                if entry is None and number not in self.producers:
                    self.producers[number] = None
                    self.leaves[number] = Leaf(facts_of(item), self.now, place)
        made = [tensor for tensor in compat.flatten(results) if compat.id_of(tensor) is not None]
        self.add_virtual("PyFunc", ids, made, place)

    # -- keeping memory flat ---------------------------------------------------------------------

    def begin_step(self) -> None:
        """A tape is entered: after an update that is a new step, and what is some steps old can go."""
        self.ledger.tape_entered()
        if self.updated:
            self.updated = False
            self.end_generation()

    def end_generation(self) -> None:
        """The last two generations are kept, and as many before them as are not large together."""
        starts = self._generation_starts
        starts.append(self.now)
        while len(starts) > 3 and (len(starts) > KEPT_STEPS + 1 or len(self.records) > KEPT_OPS // 2 + self._spared):
            starts.popleft()
            self._drop_before(starts[0])

    def trim(self) -> None:
        """A long stretch without updates is a generation too, once no tape is open."""
        if not self.open_tapes and len(self.records) > max(KEPT_OPS, self._spared + KEPT_OPS // 2):
            self.end_generation()
            if len(self.records) > 2 * KEPT_OPS:
                self._drop_before(self.records[len(self.records) - KEPT_OPS].sequence)

    def _drop_before(self, sequence: int) -> None:
        records, producers = self.records, self.producers
        spans = self.still_needed()

        def is_old(moment: int) -> bool:
            return moment <= sequence and not any(began <= moment <= ended for began, ended in spans)

        spared, gone = [], set[int]()
        while records and records[0].sequence <= sequence:
            record = records.popleft()
            if not is_old(record.sequence):
                spared.append(record)
                continue
            gone.update([facts.id for facts in record.outputs])
        records.extendleft(reversed(spared))
        self._spared = len(spared)
        while self.departures and is_old(self.departures[0].sequence):
            self.departures.popleft()
        before = itertools.takewhile(lambda item: item[1].sequence <= sequence, self.leaves.items())  # the oldest first
        for number in [number for number, leaf in before if is_old(leaf.sequence)]:
            del self.leaves[number]
            gone.add(number)
        for number in gone:
            producers.pop(number, None)
        self.labels.forget(gone)
        self.dropped_before = sequence

    def is_data(self, value: Any) -> bool:
        """Whether these are values that came from outside, converted and moved at most, and that differ."""
        number = compat.id_of(value)
        while number is not None and (made := self.producers.get(number)) is not None:
            if made.kind not in (OpKind.MOVE, OpKind.CAST) or not made.inputs:
                return False
            number = made.inputs[0]
        values = array_of(value) if number is not None else value
        several = isinstance(values, np.ndarray) and values.size > 1
        return several and bool((values.ravel()[:_SEVERAL] != values.flat[0]).any())


def _take_in(stop: OpRecord, maker: Callable[[int], OpRecord | None]) -> None:
    """What a stop was given was made into a tensor inside of it, while it held the tapes: that is no cut of its own."""
    waiting = [*stop.inputs] if stop.tapes else []  # what has its tapes is not looked at again
    while waiting:
        made = maker(waiting.pop())
        if made is not None and not made.tapes and made.place == stop.place:
            made.tapes = stop.tapes
            waiting += made.inputs


def _is_product(record: OpRecord) -> bool:
    return record.action is Action.MULTIPLY or record.kind is OpKind.CONTRACT
