"""Names of loops and parameters that hold a variable and are bound to a tensor which nobody reads."""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.log.op_table import kind_of
from whygrad.backends.tensorflow.log.positions import span
from whygrad.graph import OpKind, VariableId
from whygrad.graph.event import UpdateDiscarded
from whygrad.source import SourceSpan
from whygrad.source.forgotten_binding import forgotten_bindings

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.log.op_record import OpRecord
    from whygrad.backends.tensorflow.log.recorder import Recorder

_READING = ("ReadVariableOp", "Const", "Shape")
_KEPT = 4096


class ReboundNames:
    """The source says which values are forgotten; here it is seen that the name held a variable before."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.found: dict[tuple[int, Any], list[Any]] = {}  # (variable, place) -> [times, name]
        self._names: dict[Any, str | None] = {}  # by place

    def look(self, record: OpRecord, frame: FrameType | None) -> None:
        """Called after each op, with the user's frame around it."""
        place = record.place
        if place is None or frame is None or record.type in _READING or not forgotten_bindings(place.file):
            return
        if place not in self._names and len(self._names) < _KEPT:
            self._names[place] = _bound_to(span(place))
        if kind_of(record.type) is OpKind.WRITE:  # `v = v.assign(...)` has done its work
            self._names[place] = None
        name = self._names.get(place)
        held = None if name is None else frame.f_locals.get(name)
        entry = self.recorder.variables.of(held) if hasattr(held, "assign") else None
        if entry is not None:
            counted = self.found.setdefault((entry.id, place), [0, name])
            counted[0] += 1

    def events(self) -> Iterator[UpdateDiscarded]:
        for (variable, place), (times, name) in self.found.items():
            if self._names.get(place) is not None:
                yield UpdateDiscarded(variable=VariableId(variable), where=span(place), seen=times, name=name)


def _bound_to(where: SourceSpan | None) -> str | None:
    """The name that takes the whole value at a span, where nothing reads it."""
    if where is None:
        return None
    value, name = forgotten_bindings(where.file).get(where.line, (None, None))
    whole = value is not None and (where.column, where.end_column, where.last_line) in (
        (value.column, value.end_column, value.last_line),
        (None, None, value.line),
    )
    return name if whole else None
