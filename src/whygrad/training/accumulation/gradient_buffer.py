"""Where the gradients of one variable are summed: dense, dense with touched rows, sparse rows, or the largest."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.measure.graph_building import Factor, scaled
from whygrad.backends.tensorflow.measure.sparse_rows import RowBuffer, row_count
from whygrad.training.variables import shape_of


class DenseBuffer(tf.Module):  # type: ignore[misc]
    """A sum as large as the variable. Sparse gradients are scattered into it; a factor or scale of None means one.

    `kind` is 0 in a new buffer and `KIND` once it is in use, so that a restored one is known from an empty one.
    """

    KIND = 1

    def __init__(self, shape: tf.TensorShape, dtype: tf.DType, placement: dict[str, Any]) -> None:
        super().__init__(name="dense")
        self.kind = tf.Variable(0, trainable=False, name="kind")
        self._scatters = not placement  # a replica's own part of a variable cannot be scattered into
        self._in_place = not placement and dtype in (tf.float32, tf.float64)
        self.total = tf.Variable(tf.zeros(shape, dtype), trainable=False, name="total", **placement)

    def add(self, gradient: Any, factor: Factor | None) -> None:
        if isinstance(gradient, tf.IndexedSlices):
            self._add_rows(gradient, factor)
        elif factor is None:
            self.total.assign_add(tf.cast(gradient, self.total.dtype), read_value=False)
        elif self._in_place:
            _add_scaled_in_place(self.total, gradient, factor)
        else:
            self.total.assign_add(scaled(gradient, factor, self.total.dtype), read_value=False)

    def gradient(self, scale: Factor | None, dtype: tf.DType) -> Any:
        return scaled(self.total.read_value(), scale, dtype)

    def take(self, scale: Factor | None, dtype: tf.DType) -> Any:
        total = self.total.read_value()
        empty = self.total.assign(tf.zeros(self.total.shape, self.total.dtype), read_value=False)
        # The variable has let go of the sum by then, so that it can be scaled in place: no third copy.
        with tf.control_dependencies([] if tf.executing_eagerly() else [empty]):
            return scaled(total, scale, dtype)

    @property
    def dtype(self) -> tf.DType:
        return self.total.dtype

    def rescale(self, factor: Any) -> None:
        self.total.assign(self.total * tf.cast(factor, self.total.dtype))

    def reset(self) -> None:
        self.total.assign(tf.zeros(self.total.shape, self.total.dtype), read_value=False)

    def state(self) -> dict[str, Any]:
        return {"total": self.total.numpy()}

    def load(self, state: dict[str, Any]) -> None:
        self.reset()
        if "rows" in state:
            self.add(tf.IndexedSlices(tf.constant(state["values"]), tf.constant(state["rows"])), None)
        else:
            self.total.assign(state["total"])

    def _add_rows(self, gradient: tf.IndexedSlices, factor: Factor | None) -> None:
        values = scaled(gradient.values, factor, self.total.dtype)
        if self._scatters:
            self.total.scatter_add(tf.IndexedSlices(values, gradient.indices))
        else:
            rows = int(self.total.shape[0])
            self.total.assign_add(tf.math.unsorted_segment_sum(values, gradient.indices, rows), read_value=False)


class TouchedRowsBuffer(DenseBuffer):
    """A dense sum that remembers which rows were touched, so that the optimizer still gets a sparse gradient."""

    KIND = 2

    def __init__(self, shape: tf.TensorShape, dtype: tf.DType) -> None:
        super().__init__(shape, dtype, {})
        self.touched = tf.Variable(tf.zeros([shape[0]], tf.bool), trainable=False, name="touched")

    def add(self, gradient: Any, factor: Factor | None) -> None:
        super().add(gradient, factor)
        if isinstance(gradient, tf.IndexedSlices):
            ones = tf.ones_like(gradient.indices, tf.bool)
            self.touched.scatter_update(tf.IndexedSlices(ones, gradient.indices))
        else:
            self.touched.assign(tf.ones_like(self.touched))

    def take(self, scale: Factor | None, dtype: tf.DType) -> tf.IndexedSlices:
        gradient = self.gradient(scale, dtype)
        self.reset()
        return gradient

    def gradient(self, scale: Factor | None, dtype: tf.DType) -> tf.IndexedSlices:
        rows = tf.where(self.touched)[:, 0]
        values = scaled(tf.gather(self.total, rows), scale, dtype)
        return tf.IndexedSlices(values, rows, tf.constant(self.total.shape.as_list(), tf.int64))

    def reset(self) -> None:
        super().reset()
        self.touched.assign(tf.zeros_like(self.touched))

    def state(self) -> dict[str, Any]:
        rows = tf.where(self.touched)[:, 0]
        return {"rows": rows.numpy(), "values": tf.gather(self.total, rows).numpy()}


class LargestBuffer(DenseBuffer):
    """For variables that Keras overwrites with their gradient (float8 scales): the largest, as Keras does."""

    def add(self, gradient: Any, factor: Factor | None) -> None:
        self.total.assign(tf.maximum(self.total, tf.cast(gradient, self.total.dtype)))

    def gradient(self, scale: Factor | None, dtype: tf.DType) -> Any:
        return tf.cast(self.total, dtype)

    def take(self, scale: Factor | None, dtype: tf.DType) -> Any:
        return super().take(None, dtype)


Buffer = DenseBuffer | RowBuffer


def make_buffer(
    variable: Any, gradient: Any, *, steps: int | None, dtype: tf.DType | None, placement: dict[str, Any]
) -> Buffer:
    """The smallest buffer for a window of gradients like this one; None as gradient: not known yet."""
    shape = tf.TensorShape(shape_of(variable))
    own = tf.as_dtype(variable.dtype)
    kind = dtype if dtype is not None and own.size < 4 else own
    if getattr(variable, "overwrite_with_gradient", False):
        return LargestBuffer(shape, kind, placement)
    if placement or not isinstance(gradient, tf.IndexedSlices):
        return DenseBuffer(shape, kind, placement)
    window = (row_count(gradient) or 1) * (steps or 1)
    # XLA cannot let a variable grow; and once most rows are touched, keeping a list of them is no longer smaller.
    if compat.inside_xla() or 2 * window >= int(shape[0]):
        return TouchedRowsBuffer(shape, kind)
    return RowBuffer(shape, kind, window)


def _add_scaled_in_place(total: tf.Variable, gradient: tf.Tensor, factor: Factor) -> None:
    # `total -= -factor * gradient` in one pass over memory and without a temporary as large as the gradient.
    tf.raw_ops.ResourceApplyGradientDescent(
        var=total.handle, alpha=factor.of(total.dtype, negative=True), delta=tf.cast(gradient, total.dtype)
    )
