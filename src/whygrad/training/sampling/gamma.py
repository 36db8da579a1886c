"""Gamma, beta and Dirichlet samples that carry their gradients by implicit reparameterisation.

Bias: none for smooth losses. Variance: low, as for a reparameterised normal. The gradient with respect to a
concentration is TensorFlow's own (`RandomGammaGrad`); it has no second derivative. TensorFlow's sampler cannot be
compiled by XLA: under `jit_compile` pass `compilable=True`, which draws the same distribution with ops that can.
"""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from whygrad.backends.tensorflow.measure.graph_building import unconverted
from whygrad.training.sampling import arguments, noise
from whygrad.training.sampling.arguments import Tensor, TensorLike

_HELP = "pass tf.nn.softplus(...) of a free parameter, which cannot leave the positive numbers"
# A proposal is refused with a probability below 0.05, so this many in a row have one below 1e-52.
_MOST_PROPOSALS = 40


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
    concentration = arguments.floating(concentration, "concentration")
    rate = arguments.widened(arguments.matching(rate, concentration, "rate", "concentration"))
    wide = arguments.widened(concentration)
    arguments.check_broadcasts(wide, rate, "concentration", "rate")
    arguments.check_positive(wide, "concentration", help=_HELP)
    arguments.check_positive(rate, "rate", help=_HELP)
    sample_shape = arguments.check_sample_shape(sample_shape)
    if compilable:
        drawn = tf.exp(_log_gamma(_spread_out(_broadcast(wide, rate), sample_shape), seed, compilable)) / rate
    else:
        drawn = _kernel_gamma(wide, rate, sample_shape, seed)
    return arguments.narrowed(drawn, concentration.dtype)


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
    one = arguments.floating(concentration1, "concentration1")
    zero = arguments.widened(arguments.matching(concentration0, one, "concentration0", "concentration1"))
    wide = arguments.widened(one)
    arguments.check_broadcasts(wide, zero, "concentration1", "concentration0")
    arguments.check_positive(wide, "concentration1", help=_HELP)
    arguments.check_positive(zero, "concentration0", help=_HELP)
    first, second = noise.split(seed, 2)
    log_one = _log_gamma(_spread_out(_broadcast(wide, zero), sample_shape), first, compilable)
    log_zero = _log_gamma(_spread_out(_broadcast(zero, wide), sample_shape), second, compilable)
    return arguments.narrowed(tf.sigmoid(log_one - log_zero), one.dtype)


@unconverted
def implicit_dirichlet(
    concentration: TensorLike, *, sample_shape: Sequence[int] = (), seed: noise.Seed = None, compilable: bool = False
) -> Tensor:
    """A point of the simplex along the last axis, differentiable in `concentration`.

    Made of gamma samples in logarithms, so small concentrations give corners of the simplex, never NaN.
    """
    concentration, wide = arguments.categories(concentration, -1, "concentration")
    arguments.check_positive(wide, "concentration", help=_HELP)
    drawn = tf.nn.softmax(_log_gamma(_spread_out(wide, sample_shape), seed, compilable))
    return arguments.narrowed(drawn, concentration.dtype)


def _log_gamma(concentration: Tensor, seed: noise.Seed, compilable: bool) -> Tensor:
    """The logarithm of one standard gamma sample per concentration, by gamma(a) = gamma(a + 1) * uniform ** (1 / a)."""
    first, second = noise.split(seed, 2)
    raised = concentration + 1.0
    drawn = _compilable_gamma(raised, first) if compilable else _kernel_gamma(raised, None, (), first)
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
    return tf.broadcast_to(tensor, noise.sample_shape(tensor, sample_shape)) if sample_shape else tensor


def _compilable_gamma(concentration: Tensor, seed: noise.Seed) -> Tensor:
    """One standard gamma sample per concentration, each at least 1, by Marsaglia and Tsang (2000)."""
    fixed = tf.stop_gradient(concentration)
    sample = tf.stop_gradient(_accepted(fixed, noise.stateless(seed)))
    # Stopped on both sides: inside a while loop its own gradient would be asked for, and it has none.
    slope = tf.stop_gradient(tf.raw_ops.RandomGammaGrad(alpha=fixed, sample=sample))
    return sample + slope * (concentration - fixed)


def _accepted(concentration: Tensor, pair: Tensor | None) -> Tensor:
    shape = noise.shape_of(concentration)
    d = concentration - 1.0 / 3.0
    c = tf.math.rsqrt(9.0 * d)

    def unfinished(count: Tensor, accepted: Tensor, _sample: Tensor) -> Tensor:
        return tf.logical_and(count < _MOST_PROPOSALS, tf.logical_not(tf.reduce_all(accepted)))

    def propose(count: Tensor, accepted: Tensor, sample: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        first, second = noise.split(None if pair is None else tf.random.fold_in(pair, count), 2)
        z = noise.normal(shape, concentration.dtype, first)
        cube = (1.0 + c * z) ** 3
        positive = cube > 0.0
        bound = 0.5 * z * z + d - d * cube + d * tf.math.log(tf.where(positive, cube, 1.0))
        fits = positive & (-noise.exponential(shape, concentration.dtype, second) < bound)
        sample = tf.where(fits & ~accepted, d * cube, sample)
        return count + 1, accepted | fits, sample

    start = (tf.constant(0), tf.zeros_like(concentration, tf.bool), concentration)
    return tf.while_loop(unfinished, propose, start)[2]
