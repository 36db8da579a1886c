"""What of a gradient has to be read: dense tensors, slices, sparse and ragged ones, all in one form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from whygrad.errors import UsageError

Tensor = Any  # TensorFlow carries no types
Size = Any  # an int where the shape is known, a scalar int64 tensor where it is not


@dataclass(frozen=True, slots=True)
class Part:
    """A gradient as real numbers: those that are stored, and how many elements they stand for."""

    values: Tensor  # float32 or float64; of complex numbers the magnitudes
    size: Size  # elements of the whole gradient; those that are not stored are zero
    real: Tensor | None = None  # complex only: what the sum is taken of
    imaginary: Tensor | None = None

    @property
    def stored(self) -> Size:
        return size_of(self.values)

    @property
    def is_plain(self) -> bool:
        """Whether it is known to have elements, all of them stored."""
        return isinstance(self.size, int) and self.size > 0 and self.size == self.values.shape.num_elements()


def part_of(gradient: Any) -> Part | None:
    """The part to read; None: the gradient is missing."""
    if gradient is None:
        return None
    if isinstance(gradient, tf.IndexedSlices):
        return _sliced(gradient)
    if isinstance(gradient, tf.SparseTensor):
        return real_part(gradient.values, _product(gradient.dense_shape))
    if isinstance(gradient, tf.RaggedTensor):
        return real_part(gradient.flat_values, None)
    return real_part(_as_tensor(gradient), None)


def size_of(tensor: Tensor) -> Size:
    count = tensor.shape.num_elements()
    return tf.size(tensor, tf.int64) if count is None else int(count)


def _as_tensor(gradient: Any) -> Tensor:
    try:
        return tf.convert_to_tensor(gradient)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"a gradient is a `{type(gradient).__name__}`, which is not a tensor",
            help="pass the list that `tape.gradient` returned, and the variables it was asked for",
        ) from error


def real_part(values: Tensor, size: Size | None) -> Part:
    size = size_of(values) if size is None else size
    if values.dtype.is_complex:
        wide = tf.cast(values, tf.complex128)  # two finite parts can have a magnitude that float32 cannot hold
        return Part(tf.abs(wide), size, tf.math.real(wide), tf.math.imag(wide))
    return Part(widened(values), size)


def widened(values: Tensor) -> Tensor:
    """Half precision as float32, so that nothing overflows on the way; integers as float64."""
    if values.dtype in (tf.float32, tf.float64):
        return values
    return tf.cast(values, tf.float32 if values.dtype.is_floating else tf.float64)


def _sliced(gradient: Any) -> Part:
    """Rows that occur several times are added up first: only then are they elements of the gradient."""
    rows, position = tf.unique(gradient.indices)
    values = gradient.values
    if not values.dtype.is_complex:
        values = widened(values)
    merged = tf.math.unsorted_segment_sum(values, position, tf.size(rows))
    return real_part(merged, whole_size(gradient, merged))


def whole_size(gradient: Any, merged: Tensor) -> Size:
    shape = gradient.dense_shape
    if shape is None:
        return size_of(merged)
    static = tf.get_static_value(shape)
    return _product(shape) if static is None else math.prod(int(n) for n in static)


def _product(shape: Tensor) -> Size:
    static = tf.get_static_value(shape)
    if static is not None and all(n is not None for n in static):
        return math.prod(int(n) for n in static)
    return tf.reduce_prod(tf.cast(shape, tf.int64))
