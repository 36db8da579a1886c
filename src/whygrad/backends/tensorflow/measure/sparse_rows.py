"""Sparse gradients: summing repeated rows, and a buffer that holds only the rows that were touched."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow.measure.graph_building import Factor, scaled


def sum_repeated_rows(gradient: tf.IndexedSlices) -> tf.IndexedSlices:
    """The same gradient with every row once, in order of first appearance.

    Optimizers that square the gradient need this: the square of a sum is not the sum of squares.
    """
    rows, position = tf.unique(gradient.indices)
    values = tf.math.unsorted_segment_sum(gradient.values, position, tf.shape(rows)[0])
    return tf.IndexedSlices(values, rows, gradient.dense_shape)


def without_repeated_rows(gradient: Any) -> Any:
    """`sum_repeated_rows` for a sparse gradient; anything else, also None, as it is."""
    return sum_repeated_rows(gradient) if isinstance(gradient, tf.IndexedSlices) else gradient


def dense(gradient: Any) -> Any:
    """A sparse gradient with all rows of its variable; anything else, also None, as it is."""
    return tf.convert_to_tensor(gradient) if isinstance(gradient, tf.IndexedSlices) else gradient


class RowBuffer(tf.Module):  # type: ignore[misc]
    """A sum of sparse gradients that takes the room of the touched rows, never more than the table's.

    Rows are appended as they come, repeated or not, and summed when the room runs out or the sum is asked for.
    """

    KIND = 3

    def __init__(self, shape: tf.TensorShape, dtype: tf.DType, capacity: int) -> None:
        super().__init__(name="rows")
        self._table = tf.TensorShape(shape)
        self.kind = tf.Variable(0, trainable=False, name="kind")
        self.rows = tf.Variable(
            tf.zeros([capacity], tf.int64), shape=tf.TensorShape([None]), trainable=False, name="rows"
        )
        self.values = tf.Variable(
            tf.zeros([capacity, *shape[1:]], dtype),
            shape=tf.TensorShape([None, *shape[1:]]),
            trainable=False,
            name="values",
        )
        self.used = tf.Variable(0, dtype=tf.int32, trainable=False, name="used")

    def add(self, gradient: Any, factor: Factor | None) -> None:
        slices = gradient if isinstance(gradient, tf.IndexedSlices) else _all_rows(gradient)
        values = scaled(slices.values, factor, self.values.dtype)
        rows = tf.cast(slices.indices, tf.int64)
        self._make_room(tf.shape(rows)[0])
        start = self.used.read_value()
        end = start + tf.shape(rows)[0]
        self.rows[start:end].assign(rows)
        self.values[start:end].assign(values)
        self.used.assign(end)

    def gradient(self, scale: Factor | None, dtype: tf.DType) -> tf.IndexedSlices:
        """The sum so far times `scale`, each row once."""
        once = sum_repeated_rows(self._slices())
        return tf.IndexedSlices(scaled(once.values, scale, dtype), once.indices, once.dense_shape)

    def take(self, scale: Factor | None, dtype: tf.DType) -> tf.IndexedSlices:
        """The sum, which is forgotten."""
        gradient = self.gradient(scale, dtype)
        self.reset()
        return gradient

    @property
    def dtype(self) -> tf.DType:
        return self.values.dtype

    def rescale(self, factor: Any) -> None:
        self.values.assign(self.values * tf.cast(factor, self.values.dtype))

    def reset(self) -> None:
        self.used.assign(0)

    def state(self) -> dict[str, Any]:
        """What a saved file needs to go on, as arrays."""
        slices = self._slices()
        return {"rows": slices.indices.numpy(), "values": slices.values.numpy()}

    def load(self, state: dict[str, Any]) -> None:
        values = state["values"]
        self.reset()
        self.add(tf.IndexedSlices(tf.constant(values), tf.constant(state["rows"], tf.int64)), None)

    def _slices(self) -> tf.IndexedSlices:
        used = self.used.read_value()
        table = tf.constant(self._table.as_list(), tf.int64)
        return tf.IndexedSlices(self.values[:used], self.rows[:used], table)

    def _make_room(self, count: tf.Tensor) -> None:
        full = self.used + count > tf.shape(self.rows)[0]
        if tf.executing_eagerly():
            if full:
                self._grow(count)
        else:
            tf.cond(full, lambda: self._grow(count), lambda: None)

    def _grow(self, count: tf.Tensor) -> None:
        once = sum_repeated_rows(self._slices())
        kept = tf.shape(once.indices)[0]
        wanted = tf.minimum(2 * tf.shape(self.rows)[0], int(self._table[0]))
        spare = tf.maximum(kept + count, wanted) - kept
        self.rows.assign(tf.pad(once.indices, [[0, spare]]))
        self.values.assign(tf.pad(once.values, [[0, spare], *[[0, 0]] * (self._table.rank - 1)]))
        self.used.assign(kept)


def row_count(gradient: tf.IndexedSlices) -> int | None:
    """How many rows a sparse gradient carries, None where only the running graph knows."""
    count = gradient.indices.shape[0]
    return None if count is None else int(count)


def _all_rows(gradient: tf.Tensor) -> tf.IndexedSlices:
    return tf.IndexedSlices(gradient, tf.range(tf.shape(gradient)[0]))
