"""REBAR: the score function with a relaxed sample as control variate. Tucker et al., 2017."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from whygrad.arguments import check_callable
from whygrad.training.sampling import arguments, noise
from whygrad.training.sampling.arguments import ParameterError, Tensor, TensorLike

# Stands for -inf, the logit of a masked category, from which no difference could be taken.
_LEAST = -1e30


def rebar(
    loss: Callable[[Tensor], Tensor],
    logits: TensorLike,
    *,
    temperature: TensorLike = 0.5,
    strength: TensorLike = 1.0,
    seed: noise.Seed = None,
) -> Tensor:
    """A loss per sample: its value is that of `loss` at a one-hot sample of `softmax(logits)`, its gradient unbiased.

    `loss` takes samples of the shape of `logits`, and must be defined and smooth between the one-hot corners too, as
    a neural network is. It returns one cost per sample, for some or all of the leading axes of `logits`. It is called
    three times. Worth it where one cost depends on many categories at once: there a baseline, which is one number,
    tells little. With few categories leave-one-out needs fewer evaluations for the same error; `compare` measures it.

    Bias: none, at any `temperature` and `strength` (1: the whole control variate, 0: the plain score function).
    Variance: lower than the score function's as far as `loss` at soft samples predicts its value at hard ones.
    """
    check_callable("loss", loss, help="it takes samples and returns one cost for each", error=ParameterError)
    logits, wide = arguments.categories(logits, -1, "logits")
    log_p = tf.maximum(tf.nn.log_softmax(wide), _LEAST)
    first, second = noise.split(seed, 2)
    shape = noise.shape_of(log_p)
    free = log_p + noise.gumbel(shape, log_p.dtype, first)
    hard = tf.stop_gradient(tf.one_hot(tf.argmax(free, -1), shape[-1], dtype=log_p.dtype))
    tied = _given_the_winner(log_p, hard, noise.exponential(shape, log_p.dtype, second))

    cost = arguments.widened(loss(tf.cast(hard, logits.dtype)))
    soft_free = arguments.widened(loss(tf.cast(tf.nn.softmax(arguments.cooled(free, temperature)), logits.dtype)))
    soft_tied = arguments.widened(loss(tf.cast(tf.nn.softmax(arguments.cooled(tied, temperature)), logits.dtype)))
    log_prob = _per_cost(tf.reduce_sum(log_p * hard, -1), cost)
    strength = tf.cast(arguments.floating(strength, "strength"), cost.dtype)
    arguments.check_broadcasts(strength, cost, "strength", "loss(sample)")
    advantage = tf.stop_gradient(cost - strength * soft_tied)
    correction = soft_free - soft_tied
    surrogate = advantage * log_prob + strength * correction
    return tf.cast(cost + (surrogate - tf.stop_gradient(surrogate)), logits.dtype)


def _given_the_winner(log_p: Tensor, hard: Tensor, exponential: Tensor) -> Tensor:
    """Gumbel scores drawn again, given that the same category wins: the winner's is free, the others stay below it."""
    log_e = tf.math.log(exponential)
    winner = tf.reduce_sum(log_e * hard, -1, keepdims=True)
    others = -_log_add_exp(log_e - log_p, winner)
    return tf.where(hard > 0, -winner, others)


def _log_add_exp(a: Tensor, b: Tensor) -> Tensor:
    largest = tf.stop_gradient(tf.maximum(a, b))
    return largest + tf.math.log(tf.exp(a - largest) + tf.exp(b - largest))


def _per_cost(log_prob: Tensor, cost: Tensor) -> Tensor:
    """The log-probabilities summed over the axes that share one cost."""
    rank = cost.shape.rank
    if rank is None or rank > log_prob.shape.rank or not cost.shape.is_compatible_with(log_prob.shape[:rank]):
        raise ParameterError(
            f"`loss` returned shape {cost.shape}, and the samples are of shape {log_prob.shape}",
            help="return one cost per sample, over leading axes of `logits`",
        )
    return tf.reduce_sum(log_prob, list(range(rank, log_prob.shape.rank)))
