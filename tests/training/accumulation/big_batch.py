"""Twins for the tests of accumulation: a small network, and the update of the big batch to compare with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


class Network:
    """Two dense layers behind an optional embedding, with weights from a seed, in plain TensorFlow variables."""

    def __init__(self, tf: Any, *, seed: int, width: int, dtype: str = "float64", table: int = 0) -> None:
        rng = np.random.default_rng(seed)

        def weight(*shape: int) -> Any:
            return tf.Variable(rng.normal(size=shape).astype(dtype) * 0.5)

        self.tf = tf
        self.table = weight(table, 3) if table else None
        self.first, self.second = weight(3, width), weight(width, 2)
        self.bias = weight(2)

    @property
    def variables(self) -> list[Any]:
        return [v for v in (self.table, self.first, self.second, self.bias) if v is not None]

    def errors(self, x: Any, y: Any) -> Any:
        """One error for each example."""
        inputs = x if self.table is None else self.tf.reduce_mean(self.tf.gather(self.table, x), axis=1)
        hidden = self.tf.tanh(inputs @ self.first)
        return self.tf.reduce_mean((hidden @ self.second + self.bias - y) ** 2, axis=-1)

    def gradients(self, x: Any, y: Any, reduce: Callable[[Any], Any]) -> list[Any]:
        with self.tf.GradientTape() as tape:
            loss = reduce(self.errors(x, y))
        return list(tape.gradient(loss, self.variables))


def dense(tf: Any, gradient: Any) -> Any:
    """A sparse gradient as the dense one it stands for; its repeated rows are summed."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    return tf.math.unsorted_segment_sum(gradient.values, gradient.indices, gradient.dense_shape[0])


def values(variables: Sequence[Any]) -> list[np.ndarray]:
    return [np.asarray(variable.numpy()) for variable in variables]


def distance(got: Sequence[np.ndarray], wanted: Sequence[np.ndarray], start: Sequence[np.ndarray]) -> float:
    """How far two updates from `start` are apart, relative to the one that is wanted."""
    apart = np.sqrt(sum(float(np.sum((a - b) ** 2)) for a, b in zip(got, wanted, strict=True)))
    size = np.sqrt(sum(float(np.sum((b - c) ** 2)) for b, c in zip(wanted, start, strict=True)))
    assert size > 0, "the big batch's update is nothing"
    return float(apart / size)


def parts(sizes: Sequence[int]) -> list[slice]:
    ends = np.cumsum(sizes)
    return [slice(int(end - size), int(end)) for end, size in zip(ends, sizes, strict=True)]
