"""From the recorder's log to a frozen `Graph`: the ops that one request can reach, functions opened up."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.escape import add_escapes
from whygrad.backends.tensorflow.flows import flows_of
from whygrad.backends.tensorflow.function_graphs import FUNCTIONAL_OPS, functional_graphs
from whygrad.backends.tensorflow.op_table import kind_of
from whygrad.backends.tensorflow.positions import span
from whygrad.backends.tensorflow.recorder import CUSTOM, Leaf, OpRecord, TensorFacts, facts_of
from whygrad.graph import Flow, Graph, Op, OpId, OpKind, Outcome, TapeId, Tensor, TensorId, VariableId
from whygrad.graph.event import NoiseUnused
from whygrad.graph.query import without_collecting
from whygrad.source import SourceSpan

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture
    from whygrad.backends.tensorflow.requests import RequestEntry

CUTTING = frozenset({OpKind.WRITE, OpKind.STATE, OpKind.FOREIGN, OpKind.STOP})  # cut wherever they run
MAX_DEPTH = 24  # of functions inside functions


def freeze(capture: Capture, entry: RequestEntry, tf_graph: Any) -> Graph:
    """Everything the targets depend on and everything that depends on a source."""
    with without_collecting():
        return _freeze(capture, entry, tf_graph)


def _freeze(capture: Capture, entry: RequestEntry, tf_graph: Any) -> Graph:
    scope = Scope(capture, tf_graph)
    needed = scope.behind(entry.targets) | scope.ahead(entry.sources)
    facts = capture.tape_facts.get(entry.tape)
    writer = GraphWriter(capture, scope, entry.tape, None if facts is None else facts.entered)
    for record in scope.records:
        if record.sequence in needed and record.sequence not in scope.shadowed:
            writer.add(record)
    writer.add_leaves()
    note_unused_noise(capture, scope, entry.tape, needed)
    for source in entry.sources:
        if source.watched is not None:
            source.watched = writer.first_after(source.watched)
    graph = Graph(
        ops=tuple(writer.ops),
        tensors=writer.tensors,
        truncated=capture.recorder.dropped_before > 0 and tf_graph is None,
    )
    missing = [source for source in entry.sources if source.outcome is not Outcome.PRESENT]
    return add_escapes(capture, graph, entry, missing) if missing else graph


def note_unused_noise(capture: Capture, scope: Scope, tape: int, needed: set[int]) -> None:
    """A draw that only its own expression touches was drawn for nothing."""
    users: dict[int, list[OpRecord]] = defaultdict(list)
    for record in scope.records:
        for number in record.inputs:
            users[number].append(record)
    for record in scope.records:
        if record.sequence in needed or tape not in record.tapes or kind_of(record.type) is not OpKind.NOISE:
            continue
        where = span(record.place)
        floating = any(facts.dtype.is_floating for facts in record.outputs)
        initial = any(entry.born == record.place for entry in capture.variables.entries.values())
        if where is not None and floating and not initial and _stays_in(record, users):
            capture.events.append(NoiseUnused(where=where, name=record.type))


def _stays_in(record: OpRecord, users: Mapping[int, list[OpRecord]]) -> bool:
    todo = [facts.id for facts in record.outputs]
    while todo:
        for user in users.get(todo.pop(), ()):
            same_call = bool(record.layers) and user.layers == record.layers
            if (user.place != record.place and not same_call) or kind_of(user.type) is OpKind.WRITE:
                return False
            todo.extend(facts.id for facts in user.outputs)
    return True


class Scope:
    """The records a request can see: the eager log, or the log of the function being traced."""

    def __init__(self, capture: Capture, tf_graph: Any) -> None:
        recorder = capture.recorder
        self.aliases: dict[int, int] = {}  # handle inside a function -> handle outside
        self.leaves: Mapping[int, Leaf] = recorder.leaves
        self.passed: list[tuple[int, Any]] = []  # (outside, inside) tensors that a traced function captured
        self.facts: dict[int, TensorFacts] = {}
        if tf_graph is None:
            self.records: list[OpRecord] = list(recorder.records)
        else:
            self.records = [*recorder.records, *self._traced(recorder, tf_graph)]
        self.makers: dict[int, list[OpRecord]] = defaultdict(list)
        self.writes: dict[int, list[OpRecord]] = defaultdict(list)
        self.shadowed: set[int] = set()  # ops whose outputs a custom gradient took over
        for record in self.records:
            for facts in record.outputs:
                if record.type == CUSTOM:
                    self.shadowed.update(maker.sequence for maker in self.makers.pop(facts.id, ()))
                self.makers[facts.id].append(record)
                self.facts[facts.id] = facts
            for handle in self.written(record):
                self.writes[handle].append(record)
        for _, inside in self.passed:
            self.facts.setdefault(inside._id, facts_of(inside))

    def _traced(self, recorder: Any, tf_graph: Any) -> list[OpRecord]:
        records: list[OpRecord] = []
        while tf_graph is not None and hasattr(tf_graph, "captures"):
            for outside, inside in tf_graph.captures:
                if inside.dtype is compat.resource_dtype:
                    self.aliases[inside._id] = outside._id
                else:
                    self.passed.append((outside._id, inside))
            records = [*trace_records(recorder, tf_graph), *records]
            tf_graph = tf_graph.outer_graph
        return records

    def handle(self, number: int) -> int:
        while number in self.aliases:
            number = self.aliases[number]
        return number

    def written(self, record: OpRecord) -> Iterable[int]:
        """The variables a record writes."""
        if kind_of(record.type) is OpKind.WRITE and record.inputs:
            return (self.handle(record.inputs[0]),)
        if record.type == "ApplyGradients":
            return tuple(record.attrs or ())
        return ()

    def behind(self, targets: Iterable[int]) -> set[int]:
        """Sequence numbers of all records the targets depend on, through variables too."""
        inside = {inner._id: outer for outer, inner in self.passed}
        found: set[int] = set()
        todo = list(targets)
        seen: set[int] = set(todo)
        while todo:
            number = todo.pop()
            makers = list(self.makers.get(number, ()))
            if number in inside and inside[number] not in seen:
                seen.add(inside[number])
                todo.append(inside[number])
            for record in makers:
                if record.sequence in found:
                    continue
                found.add(record.sequence)
                for source in self._depends_on(record, found):
                    if source not in seen:
                        seen.add(source)
                        todo.append(source)
        return found

    def _depends_on(self, record: OpRecord, found: set[int]) -> Iterable[int]:
        yield from record.inputs
        if kind_of(record.type) is OpKind.READ and record.inputs:
            for write in self.writes.get(self.handle(record.inputs[0]), ()):
                if write.sequence < record.sequence and write.sequence not in found:
                    found.add(write.sequence)
                    yield from write.inputs

    def ahead(self, sources: Iterable[Any]) -> set[int]:
        """Sequence numbers of all records that depend on a source."""
        marked = {source.tensor for source in sources if source.tensor is not None}
        variables = {source.variable for source in sources if source.variable is not None}
        for outside, inside in self.passed:
            if outside in marked:
                marked.add(inside._id)
        found: set[int] = set()
        for record in self.records:
            touched = any(n in marked or self.handle(n) in variables for n in record.inputs)
            if not touched:
                continue
            found.add(record.sequence)
            marked.update(facts.id for facts in record.outputs)
            if any(n in marked for n in record.inputs[1:]):
                variables.update(self.written(record))
            for outside, inside in self.passed:
                if outside in marked:
                    marked.add(inside._id)
        return found


def trace_records(recorder: Any, tf_graph: Any) -> list[OpRecord]:
    """The log of a traced function; read from its graph where it was traced before watching began."""
    log = recorder.traces.get(tf_graph)
    if log is not None:
        return _with_calls(recorder, tf_graph, log.records)
    cached: list[OpRecord] | None = recorder.untraced.get(tf_graph)
    if cached is None:
        cached = [_from_operation(operation, tf_graph) for operation in tf_graph.get_operations()]
        recorder.untraced[tf_graph] = cached
    return cached


def _with_calls(recorder: Any, tf_graph: Any, logged: list[OpRecord]) -> list[OpRecord]:
    """TensorFlow announces every op but the call of one traced function by another: add those from the graph."""
    made = {facts.id for record in logged for facts in record.outputs}
    calls = [
        operation
        for operation in tf_graph.get_operations()
        if operation.type in FUNCTIONAL_OPS and operation.outputs and operation.outputs[0]._id not in made
    ]
    records = list(logged)
    for operation in calls:
        needs = {tensor._id for tensor in operation.inputs}
        last = max((i for i, r in enumerate(records) if any(f.id in needs for f in r.outputs)), default=-1)
        record = _from_operation(operation, tf_graph)
        record.sequence = next(recorder.sequence)
        neighbour = records[last + 1] if last + 1 < len(records) else records[last] if records else None
        if neighbour is not None:
            record.tapes, record.layers = neighbour.tapes, neighbour.layers
        records.insert(last + 1, record)
        made.update(facts.id for facts in record.outputs)
    if calls:
        recorder.traces[tf_graph].records[:] = records  # found once
    return records


def _from_operation(operation: Any, tf_graph: Any) -> OpRecord:
    record = OpRecord(
        0,
        operation.type,
        tuple(tensor._id for tensor in operation.inputs),
        tuple(facts_of(tensor) for tensor in operation.outputs),
    )
    if operation.type in FUNCTIONAL_OPS:
        record.calls = functional_graphs(operation, tf_graph)
    record.place = _from_traceback(operation)
    return record


def _from_traceback(operation: Any) -> SourceSpan | None:
    """Line only: graph ops remember no columns."""
    from whygrad.capture.position import CodeOwner, file_owner

    for frame in reversed(list(operation.traceback or ())):
        if file_owner(frame.filename) is CodeOwner.USER:
            return SourceSpan(frame.filename, frame.lineno)
    return None


class GraphWriter:
    """Turns records into ops, opening function calls as it goes."""

    def __init__(self, capture: Capture, scope: Scope, tape: int, entered: Any) -> None:
        self.capture = capture
        self.scope = scope
        self.tape = TapeId(tape)
        self.home = getattr(entered, "code", None)  # the function that holds the tape's `with` block
        self.ops: list[Op] = []
        self.tensors: dict[TensorId, Tensor] = {}
        self.facts: dict[int, TensorFacts] = dict(scope.facts)
        self.fresh = itertools.count(-1, -1)  # ids for what function bodies hold, below all real ones
        self.op_numbers = itertools.count(1)
        self.handles: dict[int, int] = {}
        self.times: list[tuple[int, int]] = []
        self.branches = 0  # how many loops and branches are open

    def first_after(self, clock: int) -> int:
        """The id of the first op after a moment of the recorder's clock."""
        return next((number for moment, number in self.times if moment > clock), len(self.ops) + 1)

    def add(self, record: OpRecord) -> None:
        self.times.append((record.sequence, len(self.ops) + 1))
        self._write(record, {}, frozenset(map(TapeId, record.tapes)), 0)

    def _write(self, record: OpRecord, names: dict[int, int], tapes: frozenset[TapeId], depth: int) -> None:
        """`names` renames the tensors of a function body for one call of it."""
        inputs = [names.get(number, number) for number in record.inputs]
        outputs = [self._rename(facts, names, depth) for facts in record.outputs]
        if record.calls and depth < MAX_DEPTH and all(graph is not None for graph in record.calls):
            self._open(record, inputs, outputs, tapes, depth)
        elif record.type not in _SILENT or depth == 0:
            self._emit(record, inputs, outputs, tapes)

    def _rename(self, facts: TensorFacts, names: dict[int, int], depth: int) -> int:
        if depth == 0:
            return facts.id
        number = names.get(facts.id)
        if number is None:
            number = names[facts.id] = next(self.fresh)
        self.facts[number] = facts
        return number

    def _open(
        self, record: OpRecord, inputs: list[int], outputs: list[int], tapes: frozenset[TapeId], depth: int
    ) -> None:
        loop = record.type.endswith("While")
        branching = record.type.endswith(("While", "If", "Case"))
        self.branches += branching
        data = inputs[1:] if record.type.endswith(("If", "Case")) else inputs
        for position, graph in enumerate(record.calls):
            names: dict[int, int] = {}
            holders = []
            for placeholder in graph.inputs:
                holders.append(self._rename(facts_of(placeholder), names, depth + 1))
            for outer, holder in zip(data, holders, strict=False):
                self._link(outer, holder, record, tapes)
            for inner in trace_records(self.capture.recorder, graph):
                if inner.type != "Placeholder":
                    self._write(inner, names, tapes, depth + 1)
            if loop and position == 1:
                continue  # the condition decides how often, not what
            results = [names.get(tensor._id, tensor._id) for tensor in graph.outputs]
            for result, output in zip(results, outputs, strict=False):
                self._link(result, output, record, tapes)
            if loop:
                for result, holder in zip(results, holders, strict=False):
                    self._link(result, holder, record, tapes)
        self.branches -= branching

    def _link(self, source: int, target: int, record: OpRecord, tapes: frozenset[TapeId]) -> None:
        handle = self._handle(source)
        if handle in self.capture.variables.entries:
            self.handles[target] = handle
            return
        if source in self.facts and self.facts[source].dtype is compat.resource_dtype:
            return
        self._append(
            OpKind.MOVE, "Call", (source,), (target,), (Flow.CARRIED,), self._where(record, tapes), tapes, record
        )

    def _where(self, record: OpRecord, tapes: frozenset[TapeId]) -> SourceSpan | None:
        """What the tape did not record is shown where the function that holds the tape called it."""
        if self.tape not in tapes and self.home is not None and kind_of(record.type) not in CUTTING:
            for caller in record.callers:
                if caller.code is self.home:
                    return span(caller)
        return span(record.place)

    def _handle(self, number: int) -> int:
        return self.handles.get(number, self.scope.handle(number))

    def _emit(self, record: OpRecord, inputs: list[int], outputs: list[int], tapes: frozenset[TapeId]) -> None:
        kind = OpKind.WRITE if record.type == "ApplyGradients" else kind_of(record.type)
        if record.type == "ApplyGradients":
            for variable in record.attrs or ():  # an update moves the variable; no value passes through it
                self._append(kind, record.type, (), (), (), self._where(record, tapes), tapes, record, variable)
            return
        variable = None
        data = inputs
        entries = self.capture.variables.entries
        if inputs and self._handle(inputs[0]) in entries:
            if kind in (OpKind.READ, OpKind.WRITE):
                variable = self._handle(inputs[0])
            data = inputs[1:]
        elif kind is OpKind.STATE:
            keeper = next((n for n in inputs if self._is_resource(n)), None)
            variable = keeper
            data = [n for n in inputs if n != keeper]
        if record.type == "GradientRequest":
            data = [n for n in inputs if self._handle(n) not in entries]
        if kind is OpKind.STATE:
            flows: tuple[Flow, ...] = (Flow.BLOCKED,) * len(data)
        else:
            flows = self._flows(record, kind, data, len(inputs) - len(data))
        self._append(
            kind, record.type, tuple(data), tuple(outputs), flows, self._where(record, tapes), tapes, record, variable
        )

    def _flows(self, record: OpRecord, kind: OpKind, data: list[int], skipped: int) -> tuple[Flow, ...]:
        if kind is OpKind.CUSTOM:
            blocked = record.blocked or frozenset()
            return tuple(Flow.BLOCKED if i in blocked else Flow.CARRIED for i in range(len(data)))
        if kind in (OpKind.WRITE, OpKind.GRADIENT) or record.type.startswith("LossCall:"):
            return (Flow.BLOCKED,) * len(data)
        facts = [self._facts(number) for number in record.inputs]
        if any(fact is None for fact in facts):
            facts = [fact or _UNKNOWN for fact in facts]
        known = flows_of(record.type, tuple(fact for fact in facts if fact is not None), record.outputs, record.attrs)
        return known[skipped:]

    def _is_resource(self, number: int) -> bool:
        facts = self._facts(number)
        return facts is not None and facts.dtype is compat.resource_dtype

    def _facts(self, number: int) -> TensorFacts | None:
        facts = self.facts.get(number)
        if facts is None and number in self.scope.leaves:
            facts = self.scope.leaves[number].facts
        if facts is None and self.scope.handle(number) in self.capture.variables.entries:
            facts = TensorFacts(number, compat.resource_dtype, ())
        return facts

    def _append(
        self,
        kind: OpKind,
        name: str,
        inputs: tuple[int, ...],
        outputs: tuple[int, ...],
        flows: tuple[Flow, ...],
        where: SourceSpan | None,
        tapes: frozenset[TapeId],
        record: OpRecord,
        variable: int | None = None,
    ) -> None:
        for number in (*inputs, *outputs):
            self._note_tensor(number)
        self.ops.append(
            Op(
                id=OpId(next(self.op_numbers)),
                kind=kind,
                name=name,
                inputs=tuple(map(TensorId, inputs)),
                outputs=tuple(map(TensorId, outputs)),
                flows=flows,
                where=where,
                tapes=tapes,
                variable=None if variable is None else VariableId(variable),
                layers=record.layers,
                custom=record.custom,
                branched=self.branches > 0,
            )
        )

    def _note_tensor(self, number: int) -> None:
        if TensorId(number) in self.tensors:
            return
        facts = self._facts(number)
        dtype, shape = ("unknown", None) if facts is None else (facts.dtype.name, facts.shape)
        self.tensors[TensorId(number)] = Tensor(id=TensorId(number), dtype=dtype, shape=shape)

    def add_leaves(self) -> None:
        """Values from outside, and what a traced function took from around it."""
        made = {number for op in self.ops for number in op.outputs}
        used = {number for op in self.ops for number in op.inputs}
        blank = OpRecord(0, "Leaf", (), ())
        for outside, inside in self.scope.passed:
            if inside._id in used and inside._id not in made:
                self._append(
                    OpKind.MOVE, "Captured", (outside,), (inside._id,), (Flow.CARRIED,), None, frozenset(), blank
                )
                used.add(TensorId(outside))
                made.add(TensorId(inside._id))
        for number in sorted(used - made):
            leaf = self.scope.leaves.get(number)
            if leaf is not None:
                self._append(OpKind.CONSTANT, "Leaf", (), (number,), (), span(leaf.place), frozenset(), blank)


_SILENT = frozenset({"NoOp"})
_UNKNOWN = TensorFacts(0, getattr(compat.dtypes, "float32", None), None)
