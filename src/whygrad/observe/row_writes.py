"""Rows of a variable that are overwritten by gradient steps: of a row that is named twice, only one step stays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from whygrad.graph.event import VariableStep
from whygrad.graph.node import VariableId
from whygrad.observe.label import Label
from whygrad.observe.place import Place, span

_MOST_PLACES: Final = 64
_ALIKE: Final = {8: 1e-14, 4: 1e-6}  # rows that differ by less, as a share, by the bytes of an element
_COARSE: Final = 1e-2  # of shorter ones

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(slots=True)
class _Write:
    seen: int = 0
    with_repeats: int = 0
    rows: int = 0
    repeated: int = 0  # rows that came more than once, at the write that had most of them
    compiled: bool = False


class RowWrites:
    """Writes in place of rows that are made of gradients of the variable itself, by variable and place."""

    def __init__(self) -> None:
        self._writes: dict[tuple[int, Place], _Write] = {}

    def takes(self, variable: int, label: Label | None) -> bool:
        """Whether such a write of this is of interest."""
        return label is not None and variable in label.variables and len(self._writes) < _MOST_PLACES

    def note(
        self, variable: int, place: Place, rows: Array, written: Array, label: Label, *, compiled: bool = False
    ) -> None:
        """`rows` has a line for each row that is written: where it goes. Compiled: in a step that was run again."""
        write = self._writes.setdefault((variable, place), _Write())
        write.seen += 1
        write.compiled |= compiled
        count, repeated = _repetitions(rows, written, alike_counts=label.rows != 0)
        write.with_repeats += repeated > 0
        if repeated > write.repeated:
            write.rows, write.repeated = count, repeated

    def events(self) -> Iterator[VariableStep]:
        for (variable, place), write in self._writes.items():
            yield VariableStep(
                variable=VariableId(variable),
                where=span(place),
                seen=write.seen,
                rows=write.rows,
                repeated=write.repeated,
                with_repeats=write.with_repeats,
                compiled=write.compiled,
            )


def _repetitions(rows: Array, written: Array, *, alike_counts: bool) -> tuple[int, int]:
    """(different rows, those of them that something else is written to each time).

    The same values for all may be the sum of all; `alike_counts` says that nothing was summed.
    """
    if not len(rows) or written.size % len(rows):
        return 0, 0
    _, first, which, counts = np.unique(rows, axis=0, return_index=True, return_inverse=True, return_counts=True)
    which = which.reshape(-1)
    if alike_counts:
        return len(counts), int(np.sum(counts > 1))
    values = written.reshape(len(rows), -1).astype(np.float64)
    others = values[first[which]]
    room = _ALIKE.get(written.itemsize, _COARSE) * np.maximum(np.abs(values), np.abs(others))
    differ = np.any(np.abs(values - others) > room, axis=1)
    return len(counts), len(np.unique(which[differ]))
