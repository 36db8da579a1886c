"""Norms of the gradients of a step that is traced: measured by the step itself, kept in variables of ours.

Nothing is read from the host until somebody asks. The first steps are measured, then one in so many: the rest pays for
a comparison of two numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.measure.gradient_part import Tensor
from whygrad.backends.tensorflow.measure.hidden_variable import hidden_variable, keep_with_graph
from whygrad.backends.tensorflow.measure.statistics import gathered, grouped
from whygrad.backends.tensorflow.measure.step_means import Means
from whygrad.backends.tensorflow.numbers.kept_turns import FIRST, NEWEST, ROWS, STRIDE, is_kept

_PARTS: Final = 2  # columns in front of a row: which step it is of, in two parts that float32 holds exactly
_SPLIT: Final = 1 << 20

Array = np.ndarray[Any, np.dtype[Any]]


class TracedNumbers:
    """The variables of one place that asks for gradients; every trace of it writes to the same."""

    def __init__(self, count: int, units: Sequence[int]) -> None:
        self.units = tuple(units)  # elements of each gradient that is followed element by element; 0: not followed
        self._turn = hidden_variable(0, dtype=tf.int64, name="turn")
        self._rows = hidden_variable(np.full((ROWS + 1, _PARTS + count + 1), np.nan, "float32"), name="norms")
        self._last = hidden_variable(np.full(sum(units), -1), dtype=tf.int32, name="units") if sum(units) else None

    @property
    def variables(self) -> list[Any]:
        return [each for each in (self._turn, self._rows, self._last) if each is not None]

    def write(self, gradients: Sequence[Any], targets: Sequence[Any], means: Means) -> None:
        """Add the ops that measure these gradients, and what they are the gradients of, to the graph that is traced.

        XLA would move what only a branch uses into the branch, and then round differently outside of it: it measures
        every step, and the steps that are not kept go to a row that nobody reads.
        """
        with tf.name_scope(compat.OWN_SCOPE):
            self._write(gradients, targets, means)
        self._turn.assign_add(1)  # also where the rest is left out

    def _write(self, gradients: Sequence[Any], targets: Sequence[Any], means: Means) -> None:
        for variable in self.variables:
            keep_with_graph(variable)
        turn = tf.identity(self._turn)
        kept = is_kept(turn)
        if means.compiled:
            row = tf.concat([_norms(gradients, means), _total(targets, means)], 0)
            self._keep(turn, kept, [means.apart(g) for g in gradients], row)
        else:

            def measure() -> Tensor:
                self._keep(turn, None, gradients, tf.concat([_norms(gradients, means), _total(targets, means)], 0))
                return tf.constant(True)

            tf.cond(kept, measure, lambda: tf.constant(False))

    def turn(self) -> int:
        """How many steps have been counted; read unseen."""
        return int(compat.array_view(compat.read_handle(self._turn.handle)))

    def _keep(self, turn: Tensor, kept: Tensor | None, gradients: Sequence[Any], norms: Tensor) -> None:
        row = tf.concat([tf.cast(tf.stack([turn // _SPLIT, turn % _SPLIT]), tf.float32), norms], 0)
        slot = tf.where(turn < FIRST, turn, FIRST + (turn // STRIDE - FIRST // STRIDE) % NEWEST)
        slot = slot if kept is None else tf.where(kept, slot, tf.cast(ROWS, slot.dtype))
        self._rows.scatter_nd_update([[tf.cast(slot, tf.int32)]], [row])
        if self._last is not None:
            followed = [g for g, size in zip(gradients, self.units, strict=True) if size]
            flat = tf.concat([tf.reshape(tf.cast(g, tf.float32), [-1]) for g in followed], 0)
            alive = flat != 0 if kept is None else (flat != 0) & kept
            self._last.assign(tf.where(alive, tf.cast(turn, tf.int32), self._last))

    def read(self) -> tuple[int, Array, Array, Array]:
        """(steps done, steps kept, norms and the loss, the last kept step at which each unit had a gradient)."""
        rows = self._rows.numpy()[:ROWS]
        rows = rows[~np.isnan(rows[:, 0])]
        steps = (rows[:, 0].astype(np.float64) * _SPLIT + rows[:, 1]).astype(np.int64)
        order = np.argsort(steps, kind="stable")
        last = np.zeros(0, np.int32) if self._last is None else self._last.numpy()
        return int(self._turn.numpy()), steps[order], rows[order, _PARTS:].astype(np.float64), last


def _total(targets: Sequence[Any], means: Means) -> Tensor:
    """[1]: the sum of what was differentiated."""
    parts = [tf.reduce_sum(tf.cast(means.apart(target), tf.float32)) for target in targets]
    return tf.reshape(tf.add_n(parts), [1])


def _norms(gradients: Sequence[Any], means: Means) -> Tensor:
    """[n]: L2 norms, zero only where every element is; NaN where one is not finite.

    Without a branch, which takes longer to trace than all the rest: where squares are too small or too large to be
    added up, the largest element stands for the norm.
    """
    groups = grouped([means.part(gradient) for gradient in gradients])

    def squares_and_peak(x: Tensor, axis: int | None) -> tuple[Tensor, Tensor]:
        return means.reducer.half_squares(x, axis), tf.reduce_max(tf.abs(x), axis)

    half, peak = tf.unstack(gathered(groups, squares_and_peak, tf.float32), num=2)
    norm = tf.maximum(tf.where(half < half.dtype.max, tf.sqrt(2 * half), peak), peak)
    return tf.where(tf.math.is_finite(peak) & (half == half), norm, float("nan"))
