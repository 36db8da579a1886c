"""Norms of the gradients of steps that run at once, as the capture has them anyway."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whygrad.backends.tensorflow.measure.finite import array_of, elements_of
from whygrad.backends.tensorflow.numbers.kept_turns import ROWS, is_kept, row_of

Array = np.ndarray[Any, np.dtype[Any]]


class EagerNumbers:
    """The steps of one place that asks for gradients."""

    def __init__(self, count: int, units: Sequence[int]) -> None:
        self.units = tuple(units)
        self._turn = 0
        self._steps = np.full(ROWS, -1)
        self._rows = np.full((ROWS, count + 1), np.nan)
        self._last = np.full(sum(units), -1)

    @property
    def turn(self) -> int:
        return self._turn

    def add(self, squares: Sequence[float], gradients: Sequence[Any], targets: Sequence[Any]) -> None:
        """Note one step: sums of squares, the gradients themselves, and what they are the gradients of."""
        turn, self._turn = self._turn, self._turn + 1
        if not is_kept(turn):
            return
        row = row_of(turn)
        self._steps[row] = turn
        values = np.asarray(squares, np.float64)
        for i in map(int, np.flatnonzero(values == 0)):  # squares of tiny numbers are zero too
            values[i] = _peak(gradients[i]) ** 2
        with np.errstate(all="ignore"):
            norms = np.sqrt(values)
        self._rows[row, :-1] = np.where(np.isfinite(norms), norms, np.nan)
        self._rows[row, -1] = sum(float(np.sum(array)) for each in targets if (array := array_of(each)) is not None)
        start = 0
        for gradient, size in zip(gradients, self.units, strict=True):
            if size:
                array = array_of(gradient)
                if array is not None and array.size == size:
                    self._last[start : start + size][array.reshape(-1) != 0] = turn
                start += size

    def read(self) -> tuple[int, Array, Array, Array]:
        """(steps done, steps kept, norms and the loss, the last kept step at which each unit had a gradient)."""
        there = self._steps >= 0
        order = np.argsort(self._steps[there], kind="stable")
        return self._turn, self._steps[there][order], self._rows[there][order], self._last


def _peak(gradient: Any) -> float:
    array = elements_of(gradient)
    if array is None or not array.size:
        return 0.0
    with np.errstate(all="ignore"):
        return float(np.abs(array).max())
