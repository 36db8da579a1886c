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


@dataclass(slots=True)
class _Write:
    seen: int = 0
    with_repeats: int = 0
    rows: int = 0
    repeated: int = 0  # rows that came more than once, at the write that had most of them


class RowWrites:
    """Writes in place of rows that are made of gradients of the variable itself, by variable and place."""

    def __init__(self) -> None:
        self._writes: dict[tuple[int, Place], _Write] = {}

    def note(self, variable: int, place: Place, indices: np.ndarray[Any, Any], label: Label | None) -> None:
        if label is None or variable not in label.variables or len(self._writes) >= _MOST_PLACES or not indices.ndim:
            return
        rows = indices.reshape(-1, indices.shape[-1]) if indices.ndim > 1 else indices.reshape(-1, 1)
        _, counts = np.unique(rows, axis=0, return_counts=True)
        write = self._writes.setdefault((variable, place), _Write())
        write.seen += 1
        repeated = int(np.sum(counts > 1))
        write.with_repeats += repeated > 0
        if repeated > write.repeated:
            write.rows, write.repeated = len(counts), repeated

    def events(self) -> Iterator[VariableStep]:
        for (variable, place), write in self._writes.items():
            yield VariableStep(
                variable=VariableId(variable),
                where=span(place),
                seen=write.seen,
                rows=write.rows,
                repeated=write.repeated,
                with_repeats=write.with_repeats,
            )
