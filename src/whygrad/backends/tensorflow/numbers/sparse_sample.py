"""A few rows of a sparse gradient, kept by the step that computed them, in which some row is repeated."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from whygrad.backends.tensorflow.measure.duplicate_rows import RepeatedRows, compare_repeated_rows
from whygrad.backends.tensorflow.measure.gradient_part import Tensor
from whygrad.backends.tensorflow.measure.hidden_variable import hidden_variable, keep_with_graph
from whygrad.backends.tensorflow.measure.step_means import Means
from whygrad.backends.tensorflow.numbers.kept_turns import is_kept

Array = np.ndarray[Any, np.dtype[Any]]
Sample = tuple[Array, Array]  # rows of the table, and the gradient of each

_NO_ROW = -1


class TracedSample:
    """Of the first step that is looked at and repeats a row; every trace of the step writes to the same variables."""

    def __init__(self, gradient: tf.IndexedSlices, room: int) -> None:
        width = gradient.values.shape[1:].num_elements()
        self.room = room
        self._turn = hidden_variable(0, dtype=tf.int64, name="turn")
        self._rows = hidden_variable(np.full(room, _NO_ROW), dtype=tf.int64, name="rows")
        self._values = hidden_variable(np.zeros((room, width), "float32"), name="values")
        self._shape = tuple(gradient.values.shape[1:])

    def write(self, gradient: tf.IndexedSlices, means: Means) -> None:
        """Add the ops that keep a sample to the graph that is being traced.

        XLA keeps one at each step, the one that is there already at most: a branch would make it round differently.
        """
        for variable in (self._turn, self._rows, self._values):
            keep_with_graph(variable)
        turn = tf.identity(self._turn)
        if means.compiled:
            self._keep(means.apart(gradient), is_kept(turn))
        else:
            empty = is_kept(turn) & (self._rows[0] == _NO_ROW)
            tf.cond(empty, lambda: self._keep(gradient, tf.constant(True)), lambda: tf.constant(False))
        self._turn.assign_add(1)

    def read(self) -> Sample | None:
        rows = self._rows.numpy()
        held = rows != _NO_ROW
        values = self._values.numpy()[held].reshape(-1, *self._shape)
        return (rows[held], values) if held.any() else None

    def _keep(self, gradient: tf.IndexedSlices, wanted: Tensor) -> Tensor:
        rows = tf.cast(gradient.indices[: self.room], tf.int64)
        spare = [[0, self.room - tf.shape(rows)[0]]]
        values = tf.cast(tf.reshape(gradient.values[: self.room], [-1, self._values.shape[1]]), tf.float32)
        pairs = tf.math.count_nonzero(rows[:, tf.newaxis] == rows) > tf.size(rows, tf.int64)
        fresh = wanted & pairs & (self._rows[0] == _NO_ROW)
        self._values.assign(tf.where(fresh, tf.pad(values, [*spare, [0, 0]]), self._values))
        self._rows.assign(tf.where(fresh, tf.pad(rows, spare, constant_values=_NO_ROW), self._rows))
        return fresh


def compared(optimizer: Any, sample: Sample, variable: Any) -> RepeatedRows | None:
    """What the optimizer makes of a sample; None also where it cannot be made again from its settings."""
    rows, values = sample
    gradient = tf.IndexedSlices(tf.cast(tf.constant(values), variable.dtype), tf.constant(rows, tf.int64))
    try:
        return compare_repeated_rows(optimizer, gradient, variable)
    except Exception:  # somebody else's optimizer, whose settings do not say everything
        return None
