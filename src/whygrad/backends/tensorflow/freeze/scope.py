"""The records that one request can see, and which of them it needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.op_record import CUSTOM, Leaf, OpRecord, TensorFacts, facts_of
from whygrad.backends.tensorflow.log.op_table import kind_of
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.requests import RequestEntry
from whygrad.backends.tensorflow.log.trace_log import trace_records
from whygrad.graph import Action, OpKind


class Scope:
    """The eager log, or the log of the function being traced and of those around it."""

    def __init__(self, recorder: Recorder, tf_graph: Any, asked: RequestEntry) -> None:
        self._recorder = recorder
        self.aliases: dict[int, int] = dict(recorder.variables.copies)  # handle inside a function -> handle outside
        self.leaves: Mapping[int, Leaf] = recorder.leaves
        self.passed: list[tuple[int, Any]] = []  # (outside, inside) tensors that a traced function took or was given
        self.facts: dict[int, TensorFacts] = {}
        self.records: list[OpRecord] = list(recorder.records)
        if tf_graph is not None:
            self.records += self._traced(recorder, tf_graph)
        self.makers: dict[int, list[OpRecord]] = defaultdict(list)
        self.writes: dict[int, list[OpRecord]] = defaultdict(list)
        self._called_writes = _CalledWrites(recorder)
        self.shadowed: set[int] = set()  # ops whose outputs a custom gradient took over
        types = {record.type for record in self.records}
        self._drawing = {name for name in types if kind_of(name) is OpKind.NOISE}
        self._born = {entry.born for entry in recorder.variables.entries.values()}
        self._writing = {name for name in types if kind_of(name) is OpKind.WRITE}
        self._reading = {name for name in types if kind_of(name) is OpKind.READ}
        self._index()
        self._read_targets(asked)
        for _, inside in self.passed:
            self.facts.setdefault(compat.tensor_id(inside), facts_of(inside))

    def _index(self) -> None:
        self._order = {record.sequence: position for position, record in enumerate(self.records)}
        for record in self.records:
            for facts in record.outputs:
                if record.type == CUSTOM:
                    self.shadowed.update(maker.sequence for maker in self.makers.pop(facts.id, ()))
                self.makers[facts.id].append(record)
                self.facts[facts.id] = facts
            if record.calls or record.type in self._writing:
                for handle in self.written(record):
                    self.writes[handle].append(record)

    def _read_targets(self, asked: RequestEntry) -> None:
        """A target that is a variable is read when the gradient is asked for; the tape knows it by its handle."""
        for moment, number in enumerate(asked.targets, self._recorder.now + 1):
            entry = self._recorder.variables.entries.get(self.handle(number))
            if entry is not None:
                value = TensorFacts(number, compat.dtype_named(entry.dtype), entry.shape)
                read = OpRecord(moment, "ReadVariableOp", (number,), (value,))
                read.place, read.tapes = asked.place, (asked.tape,)
                self._order[read.sequence] = len(self.records)
                self.records.append(read)
                self.shadowed.update(maker.sequence for maker in self.makers.pop(number, ()))
                self.makers[number], self.facts[number] = [read], value
                self._reading.add(read.type)

    def _traced(self, recorder: Recorder, tf_graph: Any) -> list[OpRecord]:
        records: list[OpRecord] = []
        taken: set[int] = set()
        while compat.is_function_graph(tf_graph):
            for outside, inside in (*tf_graph.captures, *compat.traced_arguments(tf_graph)):
                if inside.dtype is compat.resource_dtype:
                    self.aliases[compat.tensor_id(inside)] = compat.tensor_id(outside)
                else:
                    self.passed.append((compat.tensor_id(outside), inside))
                    taken.add(compat.tensor_id(inside))
            # A small tensor from outside becomes a constant of the function: what made it is outside all the same.
            log = trace_records(recorder, tf_graph)
            own = [r for r in log if r.type not in ("Const", "Placeholder") or r.outputs[0].id not in taken]
            records = [*own, *records]
            tf_graph = tf_graph.outer_graph
        return records

    def handle(self, number: int) -> int:
        while number in self.aliases:
            number = self.aliases[number]
        return number

    def written(self, record: OpRecord) -> Iterable[int]:
        """The variables a record writes."""
        if record.type == "ApplyGradients":
            return tuple(record.attrs or ())
        if record.type in self._writing and record.inputs:
            return (self.handle(record.inputs[0]),)
        return {self.handle(number) for number in self._called_writes.of(record)} if record.calls else ()

    def behind(self, targets: Iterable[int]) -> set[int]:
        """Sequence numbers of all records the targets depend on, through variables too."""
        outer = {compat.tensor_id(inside): (outside,) for outside, inside in self.passed}
        found: set[int] = set()
        todo = list(targets)
        seen: set[int] = set(todo)
        while todo:
            number = todo.pop()
            sources: list[int] = list(outer.get(number, ()))
            for record in self.makers.get(number, ()):
                if record.sequence not in found:
                    found.add(record.sequence)
                    sources += record.inputs
                    for handle in self._read_by(record):
                        sources += self._written_before(record, handle, found)
            for source in sources:
                if source not in seen:
                    seen.add(source)
                    todo.append(source)
        return found

    def _read_by(self, record: OpRecord) -> Iterable[int]:
        """The variables whose values a record takes; a function with a gradient of its own may be handed them whole."""
        if record.type != CUSTOM:
            return map(self.handle, record.inputs[:1] if record.type in self._reading else ())
        known = self._recorder.variables.entries
        return (handle for handle in map(self.handle, record.inputs) if handle in known)

    def _written_before(self, read: OpRecord, handle: int, found: set[int]) -> Iterable[int]:
        """Of the calls of one function only the last: there may be thousands, and all write the same."""
        called, order = set[int](), self._order
        for write in reversed(self.writes.get(handle, ())):
            if order[write.sequence] > order[read.sequence] or not called.isdisjoint(map(id, write.calls)):
                continue
            called.update(map(id, write.calls))
            if write.sequence not in found:
                found.add(write.sequence)
                yield from write.inputs

    def ahead(self, sources: Iterable[Any]) -> set[int]:
        """Sequence numbers of all records that depend on a source."""
        inner = defaultdict(list)
        for outside, inside in self.passed:
            inner[outside].append(compat.tensor_id(inside))
        variables = {source.variable for source in sources if source.variable is not None}
        handles = variables | {alias for alias in self.aliases if self.handle(alias) in variables}
        marked = {source.tensor for source in sources if source.tensor is not None} | handles
        todo = list(marked)
        found: set[int] = set()
        for record in self.records:
            while todo:
                for inside in inner.get(todo.pop(), ()):
                    if inside not in marked:
                        marked.add(inside)
                        todo.append(inside)
            if marked.isdisjoint(record.inputs):
                continue
            found.add(record.sequence)
            todo = [facts.id for facts in record.outputs]
            if record.type in self._writing and not marked.isdisjoint(record.inputs[1:]):
                fresh = set(self.written(record)) - marked
                todo += fresh
                todo += [alias for alias in self.aliases if fresh and self.handle(alias) in fresh]
            marked.update(todo)
        return found

    def cutting(self, sources: Iterable[Any]) -> set[int]:
        """Sequence numbers of the records that cut sources out of larger tensors."""
        found: set[int] = set()
        todo = [source.tensor for source in sources if source.tensor is not None]
        while todo:
            for record in self.makers.get(todo.pop(), ()):
                if record.action is Action.SPLIT and record.sequence not in found:
                    found.add(record.sequence)
                    todo.append(record.inputs[0])
        return found

    def draws_apart(self, tape: int, needed: set[int]) -> set[int]:
        """Random draws under a tape that its request has no need of, with what uses each up to the first op elsewhere.

        What a variable starts with is drawn where the variable is made, and not meant.
        """
        draws = [
            record
            for record in (self.records if self._drawing else ())
            if record.type in self._drawing and record.sequence not in needed and tape in record.tapes
        ]
        users = defaultdict(list)
        for record in self.records if draws else ():
            for number in record.inputs:
                users[number].append(record)
        found = set[int]()
        for draw in draws:
            todo = [draw] if draw.place not in self._born else []
            while todo:
                record = todo.pop()
                found.add(record.sequence)
                if record.place == draw.place or (draw.layers and record.layers == draw.layers):
                    todo += [user for facts in record.outputs for user in users[facts.id] if user.sequence not in found]
        return found


class _CalledWrites:
    """Which variables a call writes to: in the functions, branches and loops that it runs."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._known: dict[int, frozenset[int]] = {}  # by graph: the positions of the inputs that it writes to

    def of(self, call: OpRecord) -> set[int]:
        """The inputs of a call that what it runs writes to; an optimizer's updates are not meant."""
        given = call.handed_on
        positions = {at for graph in call.calls if graph is not None for at in self._positions(graph)}
        return {given[at] for at in positions if at < len(given)}

    def _positions(self, graph: Any) -> frozenset[int]:
        known = self._known.get(id(graph))
        if known is not None:
            return known
        self._known[id(graph)] = frozenset()  # while it is looked at: it may call itself
        written = set[int]()
        for record in trace_records(self._recorder, graph):
            if record.calls:
                written |= self.of(record)
            elif record.kind is OpKind.WRITE and record.type != "ApplyGradients":
                written.update(record.inputs[:1])
        found = frozenset(at for at, given in enumerate(graph.inputs) if compat.tensor_id(given) in written)
        self._known[id(graph)] = found
        return found
