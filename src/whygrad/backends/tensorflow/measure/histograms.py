"""Histograms of many tensors at once, in few ops: levels are read from the bits of the numbers, not computed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import tensorflow as tf

from whygrad.backends.tensorflow.measure.gradient_part import Part, Tensor, size_of
from whygrad.backends.tensorflow.measure.statistics import vector
from whygrad.graph.histogram import LEVELS, NONFINITE, SAMPLE, WIDTH, ZERO

# By the type of a number: an integer of its size, bits of the mantissa, highest exponent, mantissa of the root of two.
_FORMS: Final = {tf.float32: (tf.int32, 23, 255, 0x3504F4), tf.float64: (tf.int64, 52, 2047, 0x6A09E667F3BCD)}
_LOWEST: Final = -(1 << 20)  # below the level of any number


def histograms(parts: Sequence[Part], dtype: Any) -> Tensor:
    """[n, WIDTH]: rows as `whygrad.graph.histogram` describes them, each of which adds up to all elements of a part."""
    samples = [sampled(tf.cast(part.values, dtype)) for part in parts]
    owner = tf.concat([tf.fill([size_of(each)], i) for i, each in enumerate(samples)], 0)
    top, counts = _counted(tf.concat(samples, 0), owner, len(parts))
    stored, seen = (vector([size_of(each) for each in those], dtype) for those in ([p.values for p in parts], samples))
    share = tf.math.divide_no_nan(stored, seen)
    implied = vector([part.size for part in parts], dtype) - stored
    zeros = tf.pad(implied[:, tf.newaxis], [[0, 0], [ZERO, WIDTH - 1 - ZERO]])
    rows = tf.concat([top[:, tf.newaxis], tf.cast(counts, dtype) * share[:, tf.newaxis]], 1)
    return rows + zeros


def sampled(values: Tensor) -> Tensor:
    """All elements in one row; of a large tensor evenly spaced ones, by a distance that meets every column."""
    flat = tf.reshape(values, [-1])
    count = flat.shape[0]
    if count is None:
        apart = (tf.size(flat) + SAMPLE - 1) // SAMPLE
        return flat[:: tf.maximum(1, apart // 2 * 2 + 1)]
    return flat if count <= SAMPLE else flat[:: distance(count)]


def distance(count: int) -> int:
    """The smallest one that leaves at most `SAMPLE` elements and has no factor in common with the shape."""
    apart = -(-count // SAMPLE)
    while math.gcd(apart, count) > 1:
        apart += 1
    return apart


def _counted(flat: Tensor, owner: Tensor, rows: int) -> tuple[Tensor, Tensor]:
    """[rows]: the level of the largest finite element; [rows, WIDTH - 1]: how many elements are in each place."""
    whole, width, highest, root = _FORMS[flat.dtype]
    bits = tf.bitcast(tf.abs(flat), whole)
    power = tf.bitwise.right_shift(bits, tf.constant(width, whole))
    mantissa = tf.bitwise.bitwise_and(bits, tf.constant((1 << width) - 1, whole))
    level = tf.cast(2 * power + tf.cast(mantissa >= root, whole), tf.int32) - (highest // 2) * 2
    finite, zero = power < highest, bits == 0
    known = tf.where(finite & ~zero, level, _LOWEST)
    top = tf.maximum(tf.math.unsorted_segment_max(known, owner, rows), _LOWEST)
    below = tf.clip_by_value(tf.gather(top, owner) - level, 0, LEVELS - 1)
    place = tf.where(flat < 0, below, 2 * LEVELS - below)
    place = tf.where(finite, tf.where(zero, ZERO - 1, place), NONFINITE - 1)
    counts = tf.math.unsorted_segment_sum(tf.ones_like(place), owner * (WIDTH - 1) + place, rows * (WIDTH - 1))
    level_of_top = tf.where(top == _LOWEST, 0, top)
    return tf.cast(level_of_top, flat.dtype), tf.reshape(counts, [rows, WIDTH - 1])
