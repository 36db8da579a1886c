"""From the recorder's log to a frozen `Graph`: the ops that one request can reach, functions opened up."""

from __future__ import annotations

import bisect
import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any, cast

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.freeze.escape import add_escapes
from whygrad.backends.tensorflow.freeze.flows import dtype_name, flows_of
from whygrad.backends.tensorflow.freeze.scope import Scope
from whygrad.backends.tensorflow.log.op_record import OpRecord, TensorFacts, facts_of
from whygrad.backends.tensorflow.log.op_table import ACTIONS, kind_of
from whygrad.backends.tensorflow.log.positions import span
from whygrad.backends.tensorflow.log.trace_log import trace_records
from whygrad.graph import Flow, Graph, Op, OpId, OpKind, Outcome, TapeId, Tensor, TensorId, VariableId
from whygrad.graph.event import NoiseUnused
from whygrad.graph.query import without_collecting
from whygrad.source import SourceSpan
from whygrad.source.position import Position

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture
    from whygrad.backends.tensorflow.log.requests import RequestEntry

CUTTING = frozenset({OpKind.WRITE, OpKind.STATE, OpKind.FOREIGN, OpKind.STOP})  # cut wherever they run
MAX_DEPTH = 24  # of functions inside functions


def freeze(capture: Capture, entry: RequestEntry, tf_graph: Any) -> Graph:
    """Everything the targets depend on and everything that depends on a source."""
    with without_collecting():
        return _freeze(capture, entry, tf_graph)


def _freeze(capture: Capture, entry: RequestEntry, tf_graph: Any) -> Graph:
    scope = Scope(capture, tf_graph)
    behind = scope.behind(entry.targets)
    needed = behind | scope.ahead(entry.sources)
    facts = capture.tape_facts.get(entry.tape)
    writer = GraphWriter(capture, scope, entry.tape, None if facts is None else facts.entered)
    for record in scope.records:
        if record.sequence in needed and record.sequence not in scope.shadowed:
            writer.add(record, opened=record.sequence in behind)
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
    if not scope.draws:
        return
    users: dict[int, list[OpRecord]] = defaultdict(list)
    for record in scope.records:
        for number in record.inputs:
            users[number].append(record)
    for record in scope.records:
        if record.type not in scope.draws or record.sequence in needed or tape not in record.tapes:
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
        self.handles: dict[int, int] = {}
        self.moments: list[int] = []  # when the record of each op ran
        self.branches = 0  # how many loops and branches are open
        self._tapes: dict[tuple[int, ...], frozenset[TapeId]] = {}

    def first_after(self, clock: int) -> int:
        """The id of the first op after a moment of the recorder's clock."""
        return bisect.bisect_right(self.moments, clock) + 1

    def add(self, record: OpRecord, *, opened: bool = True) -> None:
        """A call that the targets do not depend on stays closed: there may be thousands, one for each step of `fit`."""
        tapes = self._tapes.get(record.tapes)
        if tapes is None:
            tapes = self._tapes[record.tapes] = frozenset(map(TapeId, record.tapes))
        if record.calls and not opened:
            self._close(record, tapes)
        else:
            self._write(record, {}, tapes, 0)
        self.moments += [record.sequence] * (len(self.ops) - len(self.moments))

    def _write(self, record: OpRecord, names: dict[int, int], tapes: frozenset[TapeId], depth: int) -> None:
        """`names` renames the tensors of a function body for one call of it."""
        inputs: Sequence[int]
        if depth == 0:
            inputs, outputs = record.inputs, [facts.id for facts in record.outputs]
        else:
            inputs = [names.get(number, number) for number in record.inputs]
            outputs = [self._rename(facts, names) for facts in record.outputs]
        if record.calls and depth < MAX_DEPTH and all(graph is not None for graph in record.calls):
            self._open(record, inputs, outputs, tapes, depth)
        elif record.type not in _SILENT or depth == 0:
            self._emit(record, inputs, outputs, tapes)

    def _close(self, record: OpRecord, tapes: frozenset[TapeId]) -> None:
        """A call as one op, which reads the variables it is given."""
        where, entries = self._where(record, tapes), self.capture.variables.entries
        values = []
        for number in record.inputs:
            variable = self._handle(number)
            if variable in entries:
                number = TensorId(next(self.fresh))
                known = entries[variable]
                self.tensors[number] = Tensor(id=number, dtype=known.dtype, shape=known.shape)
                self._append(OpKind.READ, "ReadVariableOp", (), (number,), (), where, tapes, record, variable)
            values.append(number)
        flows = (Flow.CARRIED,) * len(values)
        outputs = tuple(facts.id for facts in record.outputs)
        self._append(OpKind.CALL, record.type, tuple(values), outputs, flows, where, tapes, record)

    def _rename(self, facts: TensorFacts, names: dict[int, int]) -> int:
        number = names.get(facts.id)
        if number is None:
            number = names[facts.id] = next(self.fresh)
        self.facts[number] = facts
        return number

    def _open(
        self, record: OpRecord, inputs: Sequence[int], outputs: list[int], tapes: frozenset[TapeId], depth: int
    ) -> None:
        loop = record.type.endswith("While")
        branching = record.type.endswith(("While", "If", "Case"))
        self.branches += branching
        data = inputs[1:] if record.type.endswith(("If", "Case")) else inputs
        for position, graph in enumerate(record.calls):
            names: dict[int, int] = {}
            holders = []
            for placeholder in graph.inputs:
                holders.append(self._rename(facts_of(placeholder), names))
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
        """What the tape did not record is shown where the function that holds the tape called it.

        Not what runs once, while an object is made: that is the mistake itself, wherever it is made. What a layer
        does that Keras calls itself, as in `fit` of a functional model, is shown where the layer was made.
        """
        once = isinstance(record.place, Position) and record.place.code.co_name in ("__init__", "build")
        if self.tape not in tapes and self.home is not None and not once and kind_of(record.type) not in CUTTING:
            for caller in (record.place, *record.callers):
                if isinstance(caller, Position) and _is_in(caller.code, self.home):
                    return span(caller)
        return span(self.capture.keras.shown_at(record.place, record.layers))

    def _handle(self, number: int) -> int:
        known = self.handles.get(number)
        if known is not None:
            return known
        return self.scope.handle(number) if self.scope.aliases else number

    def _emit(self, record: OpRecord, inputs: Sequence[int], outputs: list[int], tapes: frozenset[TapeId]) -> None:
        kind = kind_of(record.type)
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
            inputs = [self._read(n, record, tapes) if self._handle(n) in entries else n for n in inputs]
            keeper = next((n for n in inputs if self._is_resource(n)), None)
            variable = keeper
            data = [n for n in inputs if n != keeper]
        if kind is OpKind.WRITE and inputs and inputs[0] in self.capture.variables.copies:
            data = []  # a copy on another device is filled from the first one: nothing new is written
        if record.type == "GradientRequest":
            data = [n for n in inputs if self._handle(n) not in entries]
        if kind is OpKind.STATE:
            flows: tuple[Flow, ...] = (Flow.BLOCKED,) * len(data)
        else:
            flows = self._flows(record, kind, data, len(inputs) - len(data))
        self._append(
            kind, record.type, tuple(data), tuple(outputs), flows, self._where(record, tapes), tapes, record, variable
        )

    def _read(self, handle: int, record: OpRecord, tapes: frozenset[TapeId]) -> int:
        """The value of a variable that an op reads inside itself, as a dataset does whose function uses it."""
        number = next(self.fresh)
        entry = self.capture.variables.entries[self._handle(handle)]
        self.tensors[TensorId(number)] = Tensor(id=TensorId(number), dtype=entry.dtype, shape=None)
        where = self._where(record, tapes)
        self._append(OpKind.READ, "ReadVariableOp", (), (number,), (), where, tapes, record, self._handle(handle))
        return number

    def _flows(self, record: OpRecord, kind: OpKind, data: Sequence[int], skipped: int) -> tuple[Flow, ...]:
        if kind is OpKind.CUSTOM:
            blocked = record.blocked or frozenset()
            return tuple(Flow.BLOCKED if i in blocked else Flow.CARRIED for i in range(len(data)))
        if kind in (OpKind.WRITE, OpKind.GRADIENT) or record.type.startswith("LossCall:"):
            return (Flow.BLOCKED,) * len(data)
        known = self.facts
        facts = [known.get(number) or self._facts(number) or _UNKNOWN for number in record.inputs]
        return flows_of(record.type, facts, record.outputs, record.attrs)[skipped:]

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
        known = self.tensors
        for number in (*inputs, *outputs):
            if number not in known:
                self._note_tensor(number)
        self.ops.append(
            Op(
                id=OpId(len(self.ops) + 1),
                kind=kind,
                name=name,
                inputs=cast("tuple[TensorId, ...]", inputs),
                outputs=cast("tuple[TensorId, ...]", outputs),
                flows=flows,
                where=where,
                action=ACTIONS.get(name),
                tapes=tapes,
                variable=None if variable is None else VariableId(variable),
                layers=record.layers,
                custom=record.custom,
                branched=self.branches > 0,
            )
        )

    def _note_tensor(self, number: int) -> None:
        facts = self._facts(number)
        dtype, shape = ("unknown", None) if facts is None else (dtype_name(facts.dtype), facts.shape)
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


def _is_in(code: CodeType, function: CodeType) -> bool:
    """Whether code is a function's own, or that of a comprehension in it."""
    return code is function or code.co_qualname in [
        f"{function.co_qualname}.<locals>.<{kind}>" for kind in ("listcomp", "genexpr", "dictcomp", "setcomp")
    ]


_SILENT = frozenset({"NoOp"})
_UNKNOWN = TensorFacts(0, getattr(compat.dtypes, "float32", None), None)
