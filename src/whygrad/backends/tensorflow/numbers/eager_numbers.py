"""Norms of the gradients of steps that run at once, as the capture has them anyway; and which steps are kept.

The first ones are, and then one in so many, of which the newest stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from whygrad.backends.tensorflow.measure.finite import array_of

FIRST: Final = 16  # steps, each of which is kept
STRIDE: Final = 16  # after them, one in so many is looked at
NEWEST: Final = 48  # of those, so many are kept
ROWS: Final = FIRST + NEWEST

Array = np.ndarray[Any, np.dtype[Any]]


def is_kept(turn: Any) -> Any:
    """Whether a step, counted from 0, is looked at; a number or a tensor."""
    return (turn < FIRST) | (turn % STRIDE == 0)


def row_of(turn: int) -> int:
    """The row in which a step that is looked at is kept."""
    return turn if turn < FIRST else FIRST + (turn // STRIDE - FIRST // STRIDE) % NEWEST


class EagerNumbers:
    """The steps of one place that asks for gradients."""

    def __init__(self, count: int, units: Sequence[int]) -> None:
        self.units = tuple(units)
        self._turn = 0
        self._steps = np.full(ROWS, -1)
        self._rows = np.full((ROWS, count), np.nan)
        self._last = np.full(sum(units), -1)

    @property
    def turn(self) -> int:
        return self._turn

    def add(self, squares: Sequence[float], gradients: Sequence[Any]) -> None:
        """Note one step: sums of squares, and the gradients themselves."""
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
        self._rows[row] = np.where(np.isfinite(norms), norms, np.nan)
        start = 0
        for gradient, size in zip(gradients, self.units, strict=True):
            if size:
                array = array_of(gradient)
                if array is not None and array.size == size:
                    self._last[start : start + size][array.reshape(-1) != 0] = turn
                start += size

    def read(self) -> tuple[int, Array, Array, Array]:
        """(steps done, steps kept, norms, the last kept step at which each unit had a gradient)."""
        there = self._steps >= 0
        order = np.argsort(self._steps[there], kind="stable")
        return self._turn, self._steps[there][order], self._rows[there][order], self._last


def _peak(gradient: Any) -> float:
    values = getattr(gradient, "values", gradient)
    array = array_of(gradient if callable(values) else values)
    if array is None or not array.size:
        return 0.0
    with np.errstate(all="ignore"):
        return float(np.abs(array).max())
