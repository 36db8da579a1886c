"""Whether gradients are finite, and gradients without the elements that are not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.measure.statistics import Reducer
from whygrad.backends.tensorflow.measure.step_means import Means
from whygrad.training.replicas import Replica


def all_finite(gradients: Sequence[Any]) -> Any:
    """A tensor that says whether every element is; one pass, and a closer look only where the squares overflow."""
    if not gradients:
        return tf.constant(True)
    reducer = Means(tf.float32, compat.inside_xla()).reducer
    total = tf.add_n([_half_square_sum(gradient, reducer) for gradient in gradients])

    def look_closer() -> Any:
        return tf.reduce_all([gradient_is_finite(gradient) for gradient in gradients])

    return tf.cond(tf.math.is_finite(total), lambda: tf.constant(True), look_closer)


def gradient_is_finite(gradient: Any) -> Any:
    if gradient is None:
        return tf.constant(True)
    return tf.reduce_all(tf.math.is_finite(_values(gradient)))


def _half_square_sum(gradient: Any, reducer: Reducer) -> Any:
    values = _values(gradient)
    wide = values if values.dtype.size >= 4 else tf.cast(values, tf.float32)
    return tf.cast(reducer.half_squares(wide, None), tf.float32)


def _values(gradient: Any) -> Any:
    return gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient


def without_bad_elements(gradient: Any) -> Any:
    if gradient is None:
        return None
    values = _values(gradient)
    fixed = tf.where(tf.math.is_finite(values), values, tf.zeros_like(values))
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(fixed, gradient.indices, gradient.dense_shape)
    return fixed


def bad_of_all(replica: Replica, finite: Any, which: Any) -> Any:
    """[replicas, n], the same on each of them: 1 where a gradient of one is not finite.

    `finite` is whether all of this replica's are, `which` a function that says it of each. This is the only thing that
    a guard adds to what replicas send one another.
    """
    flags = tf.cond(
        finite, lambda: tf.zeros_like(tf.stack(which()), tf.float32), lambda: 1 - tf.cast(which(), tf.float32)
    )
    mine = tf.one_hot(replica.number, replica.count)[:, tf.newaxis] * flags
    return tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, mine)
