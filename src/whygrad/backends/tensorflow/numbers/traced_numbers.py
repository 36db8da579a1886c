"""Norms of the gradients of a step that is traced: measured by the step itself, kept in variables of ours.

Nothing is read from the host until somebody asks. The first steps are measured, then one in so many: the rest pays for
a comparison of two numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.measure.gradient_part import Tensor
from whygrad.backends.tensorflow.measure.hidden_variable import hidden_variable, keep_with_graph
from whygrad.backends.tensorflow.measure.statistics import Group, grouped, squares_and_peak
from whygrad.backends.tensorflow.measure.step_means import Means
from whygrad.backends.tensorflow.numbers.kept_turns import ROWS, is_kept, row_of

# In front of a row: the loss, and which step it is of. float32 holds the multiples of 16 exactly up to 268 million.
_BEFORE: Final = 2
_ALL: Final = np.iinfo(np.int32).max  # rows of a tensor, however many there are

Array = np.ndarray[Any, np.dtype[Any]]


class TracedNumbers:
    """The variables of one place that asks for gradients; every trace of it writes to the same."""

    def __init__(self, count: int, units: Sequence[int]) -> None:
        self.units = tuple(units)  # elements of each gradient that is followed element by element; 0: not followed
        self._turn = hidden_variable(0, dtype=tf.int64, name="turn")
        self._rows = hidden_variable(np.full((ROWS + 1, _BEFORE + 2 * count), np.nan, "float32"), name="norms")
        self._last = hidden_variable(np.full(sum(units), -1), dtype=tf.int32, name="units") if sum(units) else None

    @property
    def variables(self) -> list[Any]:
        return [each for each in (self._turn, self._rows, self._last) if each is not None]

    def write(self, gradients: Sequence[Any], targets: Sequence[Any], means: Means) -> None:
        """Add the ops that measure these gradients, and what they are the gradients of, to the graph that is traced.

        No branch: it takes longer to trace than all the rest. Of a step that is not kept no elements are measured; XLA,
        which cannot leave them out, measures them all. What comes of it goes to a row that nobody reads.
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
            groups = grouped([means.part(gradient) for gradient in gradients])
        else:
            gate = Gate(kept)
            groups = list(map(gate.group, grouped([means.part(gate.slices(gradient)) for gradient in gradients])))
        self._keep(turn, kept, [means.apart(g) for g in gradients], _row(turn, groups, targets, means))

    def turn(self) -> int:
        """How many steps have been counted; read unseen."""
        return int(compat.array_view(compat.read_handle(self._turn.handle)))

    def _keep(self, turn: Tensor, kept: Tensor, gradients: Sequence[Any], row: Tensor) -> None:
        place = tf.where(kept, row_of(turn, tf.minimum), tf.cast(ROWS, turn.dtype))
        self._rows.scatter_update(tf.IndexedSlices(row, place))
        if self._last is not None:
            followed = [tf.cast(g, tf.float32) for g, size in zip(gradients, self.units, strict=True) if size]
            alive = (followed[0] if len(followed) == 1 else tf.concat(followed, 0)) != 0
            self._last.assign(tf.where(alive & kept, tf.cast(turn, tf.int32), self._last))

    def read(self) -> tuple[int, Array, Array, Array]:
        """(steps done, steps kept, norms and the loss, the last kept step at which each unit had a gradient)."""
        rows = self._rows.numpy()[:ROWS].astype(np.float64)
        rows = rows[~np.isnan(rows[:, 1])]
        rows = rows[np.argsort(rows[:, 1], kind="stable")]
        half, peak = np.split(rows[:, _BEFORE:], 2, axis=1)
        last = np.zeros(0, np.int32) if self._last is None else self._last.numpy()
        kept = np.column_stack([_norms(half, peak), rows[:, 0]])
        return int(self._turn.numpy()), rows[:, 1].astype(np.int64), kept, last


class Gate:
    """Lets the elements of tensors through where a condition holds, and none of them elsewhere."""

    def __init__(self, is_open: Tensor) -> None:
        self._most = tf.where(is_open, _ALL, 0)
        self._bounds: dict[int, tuple[Tensor, ...]] = {}  # by the axis that is cut

    def slices(self, gradient: Any) -> Any:
        """Slices before the repetitions of a row are added up, which takes longer than all else; others as they are."""
        if not isinstance(gradient, tf.IndexedSlices):
            return gradient
        values, indices = self._cut(gradient.values, 0), self._cut(gradient.indices, 0)
        return tf.IndexedSlices(values, indices, gradient.dense_shape)

    def group(self, group: Group) -> Group:
        """The elements of each gradient of a group."""
        return replace(group, values=self._cut(group.values, group.axis or 0))

    def _cut(self, tensor: Tensor, axis: int) -> Tensor:
        if not tensor.shape.rank:  # a single number
            return tensor
        if axis not in self._bounds:
            end = tf.stack([*[_ALL] * axis, self._most])
            self._bounds[axis] = tf.constant([0] * (axis + 1)), end, tf.constant([1] * (axis + 1))
        begin, end, strides = self._bounds[axis]
        return tf.raw_ops.StridedSlice(input=tensor, begin=begin, end=end, strides=strides)


def _row(turn: Tensor, groups: Sequence[Group], targets: Sequence[Any], means: Means) -> Tensor:
    """[2 + 2 n]: the sum of what was differentiated, the step; half the squares and the largest of each gradient."""
    sums = [_total(means.apart(target)) for target in targets]
    before = tf.stack([sums[0] if len(sums) == 1 else tf.add_n(sums), tf.cast(turn, tf.float32)])
    return tf.concat([before, *squares_and_peak(groups, means.reducer, tf.float32)], 0)


def _total(target: Tensor) -> Tensor:
    target = tf.cast(target, tf.float32)
    return target if target.shape.rank == 0 else tf.reduce_sum(target)


def _norms(half: Array, peak: Array) -> Array:
    """L2 norms, zero only where every element is; NaN where one is not finite.

    Where squares were too small or too large to be added up, the largest element stands for the norm.
    """
    norm = np.maximum(np.where(half < np.finfo(np.float32).max, np.sqrt(2 * half), peak), peak)
    return np.where(np.isfinite(peak) & ~np.isnan(half), norm, np.nan)
