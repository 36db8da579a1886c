"""The step an optimizer takes for a sparse gradient with repeated rows, against the step it should take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.sparse_rows import sum_repeated_rows
from whygrad.backends.tensorflow.variable_set import name_of

_WHOLE = 1 << 24  # elements up to which the whole table is copied; above, only the touched rows


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedRows:
    """Both steps, as norms, and how far they are apart."""

    variable: str
    rows: int  # different rows in the gradient
    repeated: int  # of these, how many came more than once
    taken: float  # the step as it is
    due: float  # the step with each row's gradients summed first, which is the dense gradient's
    difference: float  # |taken - due| / |due|

    @property
    def matters(self) -> bool:
        """Whether the difference is more than rounding."""
        return self.difference > 1e-4


def compare_repeated_rows(optimizer: Any, gradient: Any, variable: Any) -> RepeatedRows | None:
    """Take both steps on copies and compare them; None if the gradient has no repeated row.

    Neither the optimizer nor the variable is changed. Exact for optimizers that work element by element; a table of
    more than 16 million elements is compared on its touched rows alone, where Lamb's and Adafactor's norms, which
    span the table, are those of these rows. A `global_clipnorm` sees this gradient only.
    """
    if not isinstance(gradient, tf.IndexedSlices) or hasattr(optimizer, "wrapped"):
        return None
    once = sum_repeated_rows(gradient)
    rows, sent = int(tf.size(once.indices)), int(tf.size(gradient.indices))
    if rows == sent:
        return None
    optimizer, gradient = _unscaled(optimizer, gradient)
    counts = tf.unique_with_counts(gradient.indices).count
    taken, due = _step(optimizer, gradient, variable), _step(optimizer, sum_repeated_rows(gradient), variable)
    size = float(tf.norm(due))
    return RepeatedRows(
        variable=name_of(variable),
        rows=rows,
        repeated=int(tf.math.count_nonzero(counts > 1)),
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
    table = compat.native(variable)
    rows, local = tf.unique(gradient.indices)
    if table.shape.num_elements() <= _WHOLE:
        rows = tf.range(table.shape[0], dtype=gradient.indices.dtype)
        local = gradient.indices
    copy, before = compat.optimizer_copy(optimizer, variable, rows)
    shape = tf.constant([int(tf.size(rows)), *table.shape[1:]], tf.int64)
    copy.apply_gradients([(tf.IndexedSlices(gradient.values, local, shape), before)])
    start = tf.gather(tf.convert_to_tensor(table), rows)
    return tf.convert_to_tensor(compat.native(before)) - start
