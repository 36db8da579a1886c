"""Random numbers for the estimators, drawn in float32 or wider, from whatever the user gave as `seed`.

    None                         TensorFlow's global state, as `tf.random.normal` (follows `tf.random.set_seed`)
    (a, b) or a tensor [a, b]    exactly these numbers whenever the pair is the same; vary one with the step
    tf.random.Generator          the next numbers of that stream
    keras.random.SeedGenerator   the next numbers of that stream

A pair gives the same numbers in eager code and in `tf.function`; under `jit_compile` it gives other numbers, but again
the same ones each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from whygrad.arguments import given
from whygrad.training.sampling.arguments import ParameterError, Tensor, check_sample_shape

Seed = Any  # one of the above

# Left to choose, TensorFlow takes one that is slow under XLA on CPU.
_ALGORITHM = "philox"


def stateless(seed: Seed) -> Tensor | None:
    """A pair of integers for the stateless generators, or None for TensorFlow's global state."""
    if seed is None:
        return None
    if isinstance(seed, tf.random.Generator):
        return seed.make_seeds(1)[:, 0]
    if callable(getattr(seed, "next", None)) and not isinstance(seed, type):
        return tf.cast(seed.next(), tf.int64)
    pair = _pair(seed)
    if not pair.dtype.is_integer or not pair.shape.is_compatible_with([2]):
        raise ParameterError(f"`seed` has shape {pair.shape} and type {pair.dtype.name}", help=_SEED_HELP)
    return tf.cast(pair, tf.int64)  # one type: splitting a pair of another type gives other seeds


_SEED_HELP = (
    "pass a pair of integers that changes from step to step, seed=(42, step), "
    "or a stream, tf.random.Generator.from_seed(42)"
)


def _pair(seed: Any) -> Tensor:
    if isinstance(seed, int):
        raise ParameterError("`seed` is one integer, which would draw the same noise in every step", help=_SEED_HELP)
    try:
        if isinstance(seed, (tuple, list)) and len(seed) == 2:
            if all(isinstance(part, int) for part in seed):
                return tf.constant(seed, tf.int64)
            return tf.stack([tf.cast(part, tf.int64) for part in seed])
        return tf.convert_to_tensor(seed)
    except (TypeError, ValueError):
        raise ParameterError(f"`seed` cannot be {given(seed)}", help=_SEED_HELP) from None


def split(seed: Seed, parts: int) -> list[Any]:
    """Independent seeds for an estimator that draws more than once."""
    pair = stateless(seed)
    return [None] * parts if pair is None else tf.unstack(tf.random.split(pair, parts), num=parts)


def shape_of(tensor: Tensor) -> Any:
    """The static shape where it is known, which costs no op, else the dynamic one."""
    return tensor.shape if tensor.shape.is_fully_defined() else tf.shape(tensor)


def sample_shape(tensor: Tensor, samples: Sequence[int]) -> Any:
    """The shape of so many samples of a tensor, static where that of the tensor is known."""
    samples = check_sample_shape(samples)
    if tensor.shape.is_fully_defined():
        return (*samples, *tensor.shape)
    return tf.concat([tf.cast(samples, tf.int32), tf.shape(tensor)], 0)


def normal(shape: Any, dtype: Any, seed: Seed) -> Tensor:
    pair = stateless(seed)
    if pair is None:
        return tf.random.normal(shape, dtype=dtype)
    return tf.random.stateless_normal(shape, pair, dtype=dtype, alg=_ALGORITHM)


def uniform(shape: Any, dtype: Any, seed: Seed) -> Tensor:
    """Numbers in the open interval (0, 1): their logarithms are finite, also that of the complement."""
    smallest = np.finfo(dtype.as_numpy_dtype).tiny
    pair = stateless(seed)
    if pair is None:
        return tf.random.uniform(shape, smallest, 1.0, dtype=dtype)
    return tf.random.stateless_uniform(shape, pair, smallest, 1.0, dtype=dtype, alg=_ALGORITHM)


def categorical(logits: Tensor, count: int, seed: Seed) -> Tensor:
    """`count` indices for each row of logits."""
    pair = stateless(seed)
    if pair is None:
        return tf.random.categorical(logits, count)
    # XLA takes 32 bits here: (a, b) stays (a, b) where they fit, and of a longer key no bit is dropped.
    low, high = tf.unstack(tf.bitcast(pair, tf.int32), axis=-1)
    return tf.random.stateless_categorical(logits, count, tf.bitwise.bitwise_xor(low, high[::-1]))


def exponential(shape: Any, dtype: Any, seed: Seed) -> Tensor:
    return -tf.math.log(uniform(shape, dtype, seed))


def gumbel(shape: Any, dtype: Any, seed: Seed) -> Tensor:
    return -tf.math.log(exponential(shape, dtype, seed))


def plus_logistic(tensor: Tensor, shape: Any, seed: Seed) -> Tensor:
    """The tensor plus logistic noise. Added in this order: XLA on CPU takes 1.6 times as long over the other."""
    noise = uniform(shape, tensor.dtype, seed)
    return tensor + tf.math.log(noise) - tf.math.log1p(-noise)
