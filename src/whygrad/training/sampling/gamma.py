"""Gamma, beta and Dirichlet samples that carry their gradients by implicit reparameterisation.

Bias: none for smooth losses. Variance: low, as for a reparameterised normal. The gradient with respect to a
concentration is TensorFlow's own (`RandomGammaGrad`); it has no second derivative. TensorFlow's sampler cannot be
compiled by XLA: under `jit_compile` pass `compilable=True`, which draws the same distribution with ops that can.
"""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from whygrad.backends.tensorflow.measure.graph_building import unconverted
from whygrad.training.sampling import noise
from whygrad.training.sampling.arguments import (
    Tensor,
    TensorLike,
    check_axis,
    check_positive,
    floating,
    matching,
    narrowed,
    widened,
)
from whygrad.training.sampling.gamma_rejection import compilable_gamma

_HELP = "pass tf.nn.softplus(...) of a free parameter, which cannot leave the positive numbers"


@unconverted
def implicit_gamma(
    concentration: TensorLike,
    rate: TensorLike = 1.0,
    *,
    sample_shape: Sequence[int] = (),
    seed: noise.Seed = None,
    compilable: bool = False,
) -> Tensor:
    """A gamma sample, differentiable in `concentration` and `rate`; `sample_shape` independent ones in front.

    A sample too small for its type (likely for concentrations below 0.1 in float32) is 0 or the smallest positive
    number and has no gradient; `implicit_beta` and `implicit_dirichlet` do not suffer from it.
    """
    concentration = floating(concentration, "concentration")
    rate = widened(matching(rate, concentration, "rate", "concentration"))
    wide = widened(concentration)
    check_positive(wide, "concentration", help=_HELP)
    check_positive(rate, "rate", help=_HELP)
    if compilable:
        drawn = tf.exp(_log_gamma(_spread_out(_broadcast(wide, rate), sample_shape), seed, compilable)) / rate
    else:
        drawn = _kernel_gamma(wide, rate, sample_shape, seed)
    return narrowed(drawn, concentration.dtype)


@unconverted
def implicit_beta(
    concentration1: TensorLike,
    concentration0: TensorLike,
    *,
    sample_shape: Sequence[int] = (),
    seed: noise.Seed = None,
    compilable: bool = False,
) -> Tensor:
    """A beta sample with mean `concentration1 / (concentration1 + concentration0)`, differentiable in both.

    Made of two gamma samples in logarithms, so small concentrations give samples that round to 0 or 1, never NaN.
    """
    one = floating(concentration1, "concentration1")
    zero = widened(matching(concentration0, one, "concentration0", "concentration1"))
    wide = widened(one)
    check_positive(wide, "concentration1", help=_HELP)
    check_positive(zero, "concentration0", help=_HELP)
    first, second = noise.split(seed, 2)
    log_one = _log_gamma(_spread_out(_broadcast(wide, zero), sample_shape), first, compilable)
    log_zero = _log_gamma(_spread_out(_broadcast(zero, wide), sample_shape), second, compilable)
    return narrowed(tf.sigmoid(log_one - log_zero), one.dtype)


@unconverted
def implicit_dirichlet(
    concentration: TensorLike,
    *,
    sample_shape: Sequence[int] = (),
    seed: noise.Seed = None,
    compilable: bool = False,
) -> Tensor:
    """A point of the simplex along the last axis, differentiable in `concentration`.

    Made of gamma samples in logarithms, so small concentrations give corners of the simplex, never NaN.
    """
    concentration = floating(concentration, "concentration")
    check_axis(concentration, -1, "concentration")
    wide = widened(concentration)
    check_positive(wide, "concentration", help=_HELP)
    drawn = tf.nn.softmax(_log_gamma(_spread_out(wide, sample_shape), seed, compilable))
    return narrowed(drawn, concentration.dtype)


def _log_gamma(concentration: Tensor, seed: noise.Seed, compilable: bool) -> Tensor:
    """The logarithm of one standard gamma sample per concentration, by gamma(a) = gamma(a + 1) * uniform ** (1 / a)."""
    first, second = noise.split(seed, 2)
    raised = concentration + 1.0
    drawn = compilable_gamma(raised, first) if compilable else _kernel_gamma(raised, None, (), first)
    shrink = noise.exponential(noise.shape_of(concentration), concentration.dtype, second)
    return tf.math.log(drawn) - shrink / concentration


def _kernel_gamma(concentration: Tensor, rate: Tensor | None, sample_shape: Sequence[int], seed: noise.Seed) -> Tensor:
    pair = noise.stateless(seed)
    if pair is None:
        return tf.random.gamma(sample_shape, concentration, rate, dtype=concentration.dtype)
    event = concentration if rate is None else _broadcast(concentration, rate)
    shape = noise.sample_shape(event, sample_shape)
    return tf.random.stateless_gamma(shape, pair, concentration, rate, dtype=concentration.dtype)


def _broadcast(tensor: Tensor, other: Tensor) -> Tensor:
    """The tensor in the shape the two have together."""
    if tensor.shape.is_fully_defined() and tensor.shape == other.shape:
        return tensor
    return tensor + tf.zeros_like(other)


def _spread_out(tensor: Tensor, sample_shape: Sequence[int]) -> Tensor:
    """One entry of the tensor for each sample that is to be drawn."""
    if not sample_shape:
        return tensor
    return tf.broadcast_to(tensor, tf.concat([tf.cast(sample_shape, tf.int32), tf.shape(tensor)], 0))
