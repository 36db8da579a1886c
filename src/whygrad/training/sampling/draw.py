"""Hard samples together with their log-probabilities, ready for `score_function`: the sample never carries a gradient,
and the log-probability is normalised here, so neither can be got wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from whygrad.backends.tensorflow.measure.graph_building import unconverted
from whygrad.training.sampling import arguments, noise
from whygrad.training.sampling.arguments import Tensor, TensorLike
from whygrad.training.sampling.normal import reparameterized_normal


class Draw(NamedTuple):
    """A sample and its log-probability, as `score_function` takes them."""

    sample: Tensor
    log_prob: Tensor  # of the sample, one entry per independent part; differentiable in the parameters


@unconverted
def draw_categorical(
    logits: TensorLike, *, sample_shape: Sequence[int] = (), onehot: bool = True, seed: noise.Seed = None
) -> Draw:
    """A one-hot sample along the last axis of `softmax(logits)`, or with `onehot=False` its index (int64).

    The logits need not be normalised. `log_prob` has the shape of the indices.
    """
    logits, wide = arguments.categories(logits, -1, "logits")
    size = tf.shape(wide)[-1] if wide.shape[-1] is None else wide.shape[-1]
    sample_shape = arguments.check_sample_shape(sample_shape)
    index = _indices(wide, size, sample_shape, seed)
    repeated = tf.broadcast_to(wide, tf.concat([tf.shape(index), [size]], 0)) if sample_shape else wide
    # By index: the dense form makes NaN of logits that are -inf, as masked ones are.
    log_prob = -tf.nn.sparse_softmax_cross_entropy_with_logits(index, repeated)
    sample = tf.one_hot(index, size, dtype=logits.dtype) if onehot else index
    return Draw(sample, arguments.narrowed(log_prob, logits.dtype))


def _indices(logits: Tensor, size: Any, sample_shape: tuple[int, ...], seed: noise.Seed) -> Tensor:
    flat = logits if logits.shape.rank == 2 else tf.reshape(logits, [-1, size])
    index = tf.transpose(noise.categorical(flat, math.prod(sample_shape), seed))
    return tf.reshape(index, noise.sample_shape(logits, sample_shape)[:-1])


@unconverted
def draw_bernoulli(logits: TensorLike, *, sample_shape: Sequence[int] = (), seed: noise.Seed = None) -> Draw:
    """Bits, 0 or 1, that are 1 with probability `sigmoid(logits)`; `log_prob` has the shape of the sample."""
    logits = arguments.floating(logits, "logits")
    wide = arguments.widened(logits)
    noisy = noise.plus_logistic(tf.stop_gradient(wide), noise.sample_shape(wide, sample_shape), seed)
    sample = tf.cast(noisy > 0, wide.dtype)
    log_prob = -tf.nn.sigmoid_cross_entropy_with_logits(sample, tf.broadcast_to(wide, tf.shape(sample)))
    return Draw(arguments.narrowed(sample, logits.dtype), arguments.narrowed(log_prob, logits.dtype))


@unconverted
def draw_normal(
    mean: TensorLike, scale: TensorLike, *, sample_shape: Sequence[int] = (), seed: noise.Seed = None
) -> Draw:
    """A normal sample without a gradient of its own; `log_prob` has the shape of the sample."""
    mean = arguments.floating(mean, "mean")
    scale = arguments.matching(scale, mean, "scale", "mean")
    sample = tf.stop_gradient(reparameterized_normal(mean, scale, sample_shape=sample_shape, seed=seed))
    wide, spread = arguments.widened(mean), arguments.widened(scale)
    arguments.check_positive(spread, "scale", help="pass scale=tf.nn.softplus(...)")
    standard = (arguments.widened(sample) - wide) / spread
    log_prob = -0.5 * tf.square(standard) - tf.math.log(spread) - 0.5 * math.log(2.0 * math.pi)
    return Draw(sample, arguments.narrowed(log_prob, mean.dtype))
