"""A ring of rows in a variable: the compiled step writes, the host reads whenever it likes, and neither waits."""

from __future__ import annotations

import threading
from typing import Final

import numpy as np
import tensorflow as tf

from whygrad.backends.tensorflow.measure.gradient_part import Tensor
from whygrad.backends.tensorflow.measure.hidden_variable import hidden_variable
from whygrad.store.rows import Array

PREFIX: Final = 2  # numbers before a row: which step it is of, in two parts that even float32 holds exactly
_SPLIT: Final = 1 << 20


def halves(number: Tensor) -> Tensor:
    """A number of a step in two parts."""
    return tf.stack([number // _SPLIT, number % _SPLIT])


def whole(rows: Array) -> Array:
    """The numbers that rows begin with, put together again."""
    return (rows[:, 0].astype(np.float64) * _SPLIT + rows[:, 1]).astype(np.int64)


class Ring:
    """The newest rows of a step, at most `capacity` of them."""

    def __init__(self, width: int, capacity: int, dtype: str) -> None:
        self.capacity = capacity
        self.lost = 0  # rows that were overwritten before they were read
        self._buffer = hidden_variable(np.full((capacity, PREFIX + width), np.nan, dtype), name="ring")
        self._next = 0
        self._lock = threading.Lock()

    def write(self, number: Tensor, turn: Tensor, row: Tensor) -> None:
        """Add ops that write the row of step `number`, the `turn`-th that is written, over the oldest."""
        dtype = self._buffer.dtype
        prefix = tf.cast(halves(number), dtype)
        row = tf.concat([prefix, tf.cast(row, dtype)], 0)
        self._buffer.scatter_update(tf.IndexedSlices(row, turn % self.capacity))

    def clear(self) -> None:
        """Begin again with the first row."""
        with self._lock:
            self._buffer.assign(np.full(self._buffer.shape, np.nan))
            self._next = self.lost = 0

    def drain(self, before: int | None = None, stride: int = 1) -> tuple[Array, Array]:
        """(numbers, rows) written since the last time, oldest first; only those of steps `before` a number."""
        with self._lock:
            # The write and this read hold the variable's lock, so a row is seen whole or not at all.
            data = self._buffer.numpy()
            data = data[~np.isnan(data[:, 0])]
            numbers = whole(data)
            fresh = numbers >= self._next
            if before is not None:
                fresh &= numbers < before
            order = np.argsort(numbers[fresh], kind="stable")
            numbers, rows = numbers[fresh][order], data[fresh][order, PREFIX:]
            if len(numbers):
                self.lost += max(0, int(numbers[0] - self._next)) // stride
                self._next = int(numbers[-1]) + stride
            return numbers, rows
