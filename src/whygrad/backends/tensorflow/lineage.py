"""Whose gradient is this tensor? Followed back through clipping, scaling, casting, sums and accumulators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.op_table import kind_of
from whygrad.graph import OpKind

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture
    from whygrad.backends.tensorflow.recorder import OpRecord

MAX_OPS = 5_000
_PER_ELEMENT = {
    OpKind.ELEMENTWISE,
    OpKind.MOVE,
    OpKind.CAST,
    OpKind.CLIP,
    OpKind.SELECT,
    OpKind.DIVIDE,
    OpKind.SMOOTH,
    OpKind.OTHER,
    OpKind.POWER,
    OpKind.SQRT,
    OpKind.SIGN,
}


def origins(capture: Capture, gradient: Any) -> frozenset[int] | None:
    """The variables whose gradients went into this one, element by element; None where that is not known."""
    values = getattr(gradient, "values", gradient)
    entry = capture.variables.of(values) if hasattr(values, "assign") else None
    start = entry.id if entry is not None else getattr(values, "_id", None)
    return None if start is None else origins_of(capture, start)


def origins_of(capture: Capture, start: int) -> frozenset[int] | None:
    """The same for the id of a tensor, or of a variable that gradients were written into."""
    return _Walk(capture, capture.current_graph()).from_tensor(start)


class _Walk:
    def __init__(self, capture: Capture, graph: Any) -> None:
        self.recorder = capture.recorder
        self.variables = capture.variables
        self.made: Mapping[int, OpRecord | None] = self.recorder.producers
        self.aliases: dict[int, int] = {}
        self.writes: Mapping[int, Iterable[OpRecord]] = self.recorder.writes
        if graph is not None:
            log = self.recorder.traces.get(graph)
            records = log.records if log else []
            self.made = {facts.id: record for record in records for facts in record.outputs}
            self.aliases = {inside._id: outside._id for outside, inside in getattr(graph, "captures", ())}
            self.writes = _writes(records, self.aliases)

    def from_tensor(self, start: int) -> frozenset[int] | None:
        found: set[int] = set()
        todo, seen = [start], {start}
        while todo:
            number = todo.pop()
            label = self.recorder.gradient_of.get(number)
            if label is not None:
                found |= label
                continue
            if len(seen) > MAX_OPS:
                return None
            for source in self._sources(number):
                if source not in seen:
                    seen.add(source)
                    todo.append(source)
        return frozenset(found) if found else None

    def _sources(self, number: int) -> list[int]:
        if number in self.variables.entries:
            return self._written_to(number)
        record = self.made.get(number)
        if record is None:
            return []
        kind = kind_of(record.type)
        if kind is OpKind.READ:
            return [self.aliases.get(record.inputs[0], record.inputs[0])]
        if kind not in _PER_ELEMENT:
            return []
        shape = next((facts.shape for facts in record.outputs if facts.id == number), None)
        return [source for source in record.inputs if self._shape(source) in (shape, None)]

    def _written_to(self, variable: int) -> list[int]:
        return [
            source
            for record in self.writes.get(variable, ())
            for source in record.inputs[1:]
        ]

    def _shape(self, number: int) -> tuple[int | None, ...] | None:
        record = self.made.get(number)
        if record is not None:
            return next((facts.shape for facts in record.outputs if facts.id == number), None)
        if number in self.recorder.leaves:
            return self.recorder.leaves[number].facts.shape
        entry = self.variables.entries.get(number)
        return None if entry is None else entry.shape


def _writes(records: Iterable[OpRecord], aliases: Mapping[int, int]) -> dict[int, list[OpRecord]]:
    found: dict[int, list[OpRecord]] = {}
    for record in records:
        if kind_of(record.type) is OpKind.WRITE and record.inputs:
            found.setdefault(aliases.get(record.inputs[0], record.inputs[0]), []).append(record)
    return found
