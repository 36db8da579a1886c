"""Rows of a variable that are overwritten by gradient steps: of a row that is named twice, only one step stays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from whygrad.backends.tensorflow.log.positions import span
from whygrad.backends.tensorflow.nonfinite.finite import array_of
from whygrad.backends.tensorflow.provenance.label import Label
from whygrad.graph import VariableId
from whygrad.graph.event import RowsOverwritten

OVERWRITING: Final = frozenset({"ResourceScatterUpdate", "ResourceScatterNdUpdate"})
_MOST_PLACES: Final = 64


@dataclass(slots=True)
class _Write:
    seen: int = 0
    with_repeats: int = 0
    rows: int = 0
    repeated: int = 0  # rows that came more than once, at the write that had most of them


class RowWrites:
    """Writes in place of rows, by variable and place."""

    def __init__(self) -> None:
        self._writes: dict[tuple[int, Any], _Write] = {}

    def note(self, variable: int, place: Any, indices: Any, label: Label | None) -> None:
        """Note a write of rows that is made of gradients of the variable itself."""
        if label is None or variable not in label.variables or len(self._writes) >= _MOST_PLACES:
            return
        array = array_of(indices)
        if array is None or array.ndim == 0:
            return
        rows = array.reshape(-1, array.shape[-1]) if array.ndim > 1 else array.reshape(-1, 1)
        _, counts = np.unique(rows, axis=0, return_counts=True)
        write = self._writes.setdefault((variable, place), _Write())
        write.seen += 1
        repeated = int(np.sum(counts > 1))
        write.with_repeats += repeated > 0
        if repeated > write.repeated:
            write.rows, write.repeated = len(counts), repeated

    def events(self) -> list[RowsOverwritten]:
        return [
            RowsOverwritten(
                variable=VariableId(variable),
                where=span(place),
                rows=write.rows,
                repeated=write.repeated,
                seen=write.with_repeats,
                of=write.seen,
            )
            for (variable, place), write in self._writes.items()
            if write.repeated
        ]
