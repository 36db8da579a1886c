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
from whygrad.backends.tensorflow.measure.gradient_part import Part, Tensor
from whygrad.backends.tensorflow.measure.hidden_variable import hidden_variable, keep_with_graph
from whygrad.backends.tensorflow.measure.statistics import Group, grouped, squares_and_peak
from whygrad.backends.tensorflow.measure.step_means import Means
from whygrad.backends.tensorflow.measure.unit_watch import UnitWatch
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
        self._units = UnitWatch({str(number): size for number, size in enumerate(units)}) if sum(units) else None

    @property
    def variables(self) -> list[Any]:
        return [self._turn, self._rows, *(() if self._units is None else (self._units.last,))]

    def write(self, gradients: Sequence[Any], targets: Sequence[Any], means: Means) -> None:
        """Add the ops that measure these gradients, and what they are the gradients of, to the graph that is traced.

        Of a step that is not kept no elements are measured; what comes of it goes to a row that nobody reads.
        """
        for variable in self.variables:
            keep_with_graph(variable)
        with tf.name_scope(compat.OWN_SCOPE):
            turn = tf.identity(self._turn)
            kept, ends = is_kept(turn), [means.apart(target) for target in targets]
            if means.compiled:
                turn, row = _row_of_branch(turn, kept, [means.part(gradient) for gradient in gradients], ends, means)
            else:  # no branch: it takes longer to trace than all the rest
                gate = Gate(kept)
                parts = [means.part(gate.slices(gradient, means)) for gradient in gradients]
                row = _row(turn, list(map(gate.group, grouped(parts))), ends, means)
            place = tf.where(kept, row_of(turn, tf.minimum), tf.cast(ROWS, turn.dtype))
            self._rows.scatter_update(tf.IndexedSlices(row, place))
            if self._units is not None:
                pairs = zip(gradients, self.units, strict=True)
                self._units.write(turn, [means.apart(gradient) for gradient, size in pairs if size], kept)
        self._turn.assign_add(1)

    def turn(self) -> int:
        """How many steps have been counted; read unseen."""
        return int(compat.array_view(compat.read_handle(self._turn.handle)))

    def read(self) -> tuple[int, Array, Array, Array]:
        """(steps done, steps kept, norms and the loss, the last kept step at which each unit had a gradient)."""
        rows = self._rows.numpy()[:ROWS].astype(np.float64)
        rows = rows[~np.isnan(rows[:, 1])]
        rows = rows[np.argsort(rows[:, 1], kind="stable")]
        half, peak = np.split(rows[:, _BEFORE:], 2, axis=1)
        last = np.zeros(0, np.int32) if self._units is None else self._units.last.numpy()
        kept = np.column_stack([_norms(half, peak), rows[:, 0]])
        return int(self._turn.numpy()), rows[:, 1].astype(np.int64), kept, last


class Gate:
    """Lets the elements of tensors through where a condition holds, and none of them elsewhere."""

    def __init__(self, is_open: Tensor) -> None:
        self._most = tf.where(is_open, _ALL, 0)
        self._bounds: dict[int, tuple[Tensor, ...]] = {}  # by the axis that is cut

    def slices(self, gradient: Any, means: Means) -> Any:
        """Slices before the repetitions of a row are added up, which takes longer than all else; others as they are."""
        if not isinstance(gradient, tf.IndexedSlices):
            return gradient
        values, indices = self._cut(means.apart(gradient.values), 0), self._cut(gradient.indices, 0)
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


def _row_of_branch(
    turn: Tensor, kept: Tensor, parts: Sequence[Part], targets: Sequence[Tensor], means: Means
) -> tuple[Tensor, Tensor]:
    """The row, filled where the step is kept: XLA takes no part of a tensor whose size it does not know. And the step.

    TensorFlow moves into a branch what nothing else uses, and XLA rounds differently then. So what is measured stays
    together with the number of the step, which is used outside; without that there is no branch.
    """
    turn, *held = compat.xla_barriers([turn, *(part.values for part in parts), *targets])
    barred = [replace(part, values=values) for part, values in zip(parts, held, strict=False)]
    nothing = tf.zeros([_BEFORE + 2 * len(parts)])

    def row() -> Tensor:
        return _row(turn, grouped(barred), held[len(parts) :], means)

    return turn, tf.cond(kept, row, lambda: nothing) if compat.HAS_XLA_BARRIER else row()


def _row(turn: Tensor, groups: Sequence[Group], targets: Sequence[Any], means: Means) -> Tensor:
    """[2 + 2 n]: the sum of what was differentiated, the step; half the squares and the largest of each gradient."""
    sums = list(map(_total, targets))
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
