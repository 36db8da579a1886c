"""A gamma sampler out of ops that XLA compiles, with the implicit gradient. Marsaglia and Tsang, 2000."""

from __future__ import annotations

import tensorflow as tf

from whygrad.training.sampling import noise
from whygrad.training.sampling.arguments import Tensor

# A proposal is refused with a probability below 0.05, so this many in a row have one below 1e-52.
_MOST_PROPOSALS = 40


def compilable_gamma(concentration: Tensor, seed: noise.Seed) -> Tensor:
    """One standard gamma sample per concentration; each must be at least 1."""
    fixed = tf.stop_gradient(concentration)
    sample = tf.stop_gradient(_draw(fixed, noise.stateless(seed)))
    # Stopped on both sides: inside a while loop its own gradient would be asked for, and it has none.
    slope = tf.stop_gradient(tf.raw_ops.RandomGammaGrad(alpha=fixed, sample=sample))
    return sample + slope * (concentration - fixed)


def _draw(concentration: Tensor, pair: Tensor | None) -> Tensor:
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
