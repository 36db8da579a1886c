"""The step an optimizer takes for a sparse gradient with repeated rows, against the step it should take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.measure.sparse_rows import sum_repeated_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedRows:
    """Both steps, as norms, and how far they are apart."""

    rows: int  # different rows in the gradient
    repeated: int  # of these, how many came more than once
    taken: float  # the step as it is
    due: float  # the step with each row's gradients summed first, which is the dense gradient's
    difference: float  # |taken - due| / |due|


def compare_repeated_rows(optimizer: Any, gradient: Any, variable: Any) -> RepeatedRows | None:
    """Take both as first steps of a new optimizer of the same kind; None if the gradient has no repeated row.

    Neither the optimizer nor the variable is changed. Exact for optimizers that work element by element; norms that
    span a table (Lamb's, Adafactor's) are those of the touched rows.
    """
    if not isinstance(gradient, tf.IndexedSlices) or hasattr(optimizer, "wrapped"):
        return None
    counts = tf.unique_with_counts(gradient.indices).count
    repeated = int(tf.math.count_nonzero(counts > 1))
    if not repeated:
        return None
    optimizer, gradient = _unscaled(optimizer, gradient)
    taken, due = _step(optimizer, gradient, variable), _step(optimizer, sum_repeated_rows(gradient), variable)
    size = float(tf.norm(due))
    return RepeatedRows(
        rows=int(tf.size(counts)),
        repeated=repeated,
        taken=float(tf.norm(taken)),
        due=size,
        difference=float(tf.norm(taken - due)) / size if size else 0.0,
    )


def _unscaled(optimizer: Any, gradient: tf.IndexedSlices) -> tuple[Any, tf.IndexedSlices]:
    """The optimizer inside a Keras 3 LossScaleOptimizer, and the gradient as it will see it."""
    scale = getattr(optimizer, "dynamic_scale", None)
    inner = getattr(optimizer, "inner_optimizer", optimizer)
    if scale is None:
        return inner, gradient
    values = gradient.values / tf.cast(tf.convert_to_tensor(scale), gradient.values.dtype)
    return inner, tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)


def _step(optimizer: Any, gradient: tf.IndexedSlices, variable: Any) -> tf.Tensor:
    """How the touched rows of `variable` would change; all work is done on copies."""
    rows, local = tf.unique(gradient.indices)
    start = tf.gather(tf.convert_to_tensor(compat.native(variable)), rows)
    copy, table = compat.new_optimizer(optimizer, variable, start)
    slices = tf.IndexedSlices(gradient.values, local, tf.cast(tf.shape(start), tf.int64))
    copy.apply_gradients([(slices, table)])
    return tf.convert_to_tensor(compat.native(table)) - start
