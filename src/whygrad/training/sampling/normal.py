"""A normal sample that carries its gradient to mean and scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow.measure.graph_building import unconverted
from whygrad.training.sampling import arguments, noise
from whygrad.training.sampling.arguments import ParameterError, Tensor, TensorLike

_SCALE_HELP = "pass scale=tf.nn.softplus(...) or log_variance=..., which cannot leave the positive numbers"


@unconverted
def reparameterized_normal(
    mean: TensorLike,
    scale: TensorLike | None = None,
    *,
    log_variance: TensorLike | None = None,
    sample_shape: Sequence[int] = (),
    seed: noise.Seed = None,
) -> Tensor:
    """A sample `mean + scale * noise`, differentiable in `mean` and in `scale` or `log_variance`.

    Bias: none, for every loss that is smooth enough to exchange mean and derivative. Variance: low, that of the
    loss's own slope under the noise; it does not grow with the number of dimensions as the score function's does.
    `sample_shape` puts that many independent samples in front. Half precision is computed in float32.
    """
    if (scale is None) == (log_variance is None):
        raise ParameterError(
            "a normal sample needs `scale` or `log_variance`, and only one of them",
            help="reparameterized_normal(mean, scale) or reparameterized_normal(mean, log_variance=...)",
        )
    mean = arguments.floating(mean, "mean")
    if scale is not None:
        spread = arguments.widened(arguments.matching(scale, mean, "scale", "mean"))
        arguments.check_positive(spread, "scale", help=_SCALE_HELP)
    else:
        spread = tf.exp(0.5 * arguments.widened(arguments.matching(log_variance, mean, "log_variance", "mean")))
    center = arguments.widened(mean)
    drawn = noise.normal(_sample_shape(center, spread, sample_shape), center.dtype, seed)
    return arguments.narrowed(center + spread * drawn, mean.dtype)


def _sample_shape(center: Tensor, spread: Tensor, sample_shape: Sequence[int]) -> Any:
    sample_shape = arguments.check_sample_shape(sample_shape)
    arguments.check_broadcasts(center, spread, "mean", "scale")
    if center.shape.is_fully_defined() and spread.shape.is_fully_defined():
        return (*sample_shape, *tf.broadcast_static_shape(center.shape, spread.shape))
    event = tf.broadcast_dynamic_shape(tf.shape(center), tf.shape(spread))
    return tf.concat([tf.cast(sample_shape, tf.int32), event], 0) if sample_shape else event
