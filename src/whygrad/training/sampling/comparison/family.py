"""The distributions whose estimators can be compared: how to draw, score and enumerate each, and its estimators."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from whygrad.training.sampling.arguments import Tensor
from whygrad.training.sampling.draw import Draw, draw_bernoulli, draw_categorical, draw_normal
from whygrad.training.sampling.normal import reparameterized_normal
from whygrad.training.sampling.rebar import rebar
from whygrad.training.sampling.relaxed import gumbel_softmax, relaxed_bernoulli
from whygrad.training.sampling.score_function import score_function
from whygrad.training.sampling.straight_through import carry

Costs = Callable[[Tensor], Tensor]  # samples [..., *shape of one sample] -> costs [...]
Estimator = Callable[[Costs, Any, Tensor], Tensor]  # costs, parameters [copies, ...], seed -> loss [copies]

DRAWS = 4  # of the leave-one-out estimators
TEMPERATURE = 0.5
MOST_SAMPLES = 4096  # that are listed


@dataclass(frozen=True, slots=True)
class Family:
    draw: Callable[..., Draw]  # (parameters, sample_shape=..., seed=...)
    support: Callable[[tuple[int, ...]], list[np.ndarray[Any, Any]] | None]  # None: infinite or too large to list
    log_prob: Callable[[Any, Tensor], Tensor]  # of each whole sample, in float64
    estimators: Mapping[str, Estimator]


# Whatever the loss. A reparameterised sample is not among them: a loss with jumps makes it biased.
UNBIASED = frozenset({"score_function", "score_function_leave_one_out", "rebar"})


def scored(draw: Callable[..., Draw], draws: int | None = None) -> Estimator:
    """The score function of one sample, or the mean over several with the mean of the others as a baseline."""

    def estimate(costs: Costs, parameters: Any, seed: Tensor) -> Tensor:
        drawn = draw(parameters, sample_shape=() if draws is None else (draws,), seed=seed)
        cost = costs(drawn.sample)
        log_prob = tf.reduce_sum(drawn.log_prob, list(range(cost.shape.rank, drawn.log_prob.shape.rank)))
        if draws is None:
            return score_function(cost, log_prob)
        return tf.reduce_mean(score_function(cost, log_prob, baseline="leave-one-out"), 0)

    return estimate


def _normal(parameters: Any, **options: Any) -> Draw:
    mean, scale = parameters
    return draw_normal(mean, scale, **options)


def _categories(shape: tuple[int, ...]) -> list[np.ndarray[Any, Any]] | None:
    parts, size = int(np.prod(shape[:-1])), shape[-1]
    if size**parts > MOST_SAMPLES:
        return None
    rows = np.eye(size)
    return [rows[list(choice)].reshape(shape) for choice in itertools.product(range(size), repeat=parts)]


def _bits(shape: tuple[int, ...]) -> list[np.ndarray[Any, Any]] | None:
    parts = int(np.prod(shape))
    if 2**parts > MOST_SAMPLES:
        return None
    return [np.reshape(choice, shape).astype(float) for choice in itertools.product((0, 1), repeat=parts)]


def _sum_parts(tensor: Tensor, samples: Tensor, extra: int = 0) -> Tensor:
    return tf.reduce_sum(tensor, list(range(1, samples.shape.rank - extra)))


FAMILIES: dict[str, Family] = {
    "categorical": Family(
        draw=draw_categorical,
        support=_categories,
        log_prob=lambda logits, x: _sum_parts(-tf.nn.softmax_cross_entropy_with_logits(x, logits + 0.0 * x), x, 1),
        estimators={
            "score_function": scored(draw_categorical),
            "score_function_leave_one_out": scored(draw_categorical, DRAWS),
            "rebar": lambda costs, logits, seed: rebar(costs, logits, temperature=TEMPERATURE, seed=seed),
            "gumbel_softmax": lambda costs, logits, seed: costs(gumbel_softmax(logits, TEMPERATURE, seed=seed)),
            "gumbel_softmax_hard": lambda costs, logits, seed: costs(
                gumbel_softmax(logits, TEMPERATURE, hard=True, seed=seed)
            ),
            "straight_through": lambda costs, logits, seed: costs(
                carry(draw_categorical(logits, seed=seed).sample, tf.nn.softmax(logits))
            ),
        },
    ),
    "bernoulli": Family(
        draw=draw_bernoulli,
        support=_bits,
        log_prob=lambda logits, x: _sum_parts(-tf.nn.sigmoid_cross_entropy_with_logits(x, logits + 0.0 * x), x),
        estimators={
            "score_function": scored(draw_bernoulli),
            "score_function_leave_one_out": scored(draw_bernoulli, DRAWS),
            "relaxed_bernoulli": lambda costs, logits, seed: costs(relaxed_bernoulli(logits, TEMPERATURE, seed=seed)),
            "relaxed_bernoulli_hard": lambda costs, logits, seed: costs(
                relaxed_bernoulli(logits, TEMPERATURE, hard=True, seed=seed)
            ),
            "straight_through": lambda costs, logits, seed: costs(
                carry(draw_bernoulli(logits, seed=seed).sample, tf.sigmoid(logits))
            ),
        },
    ),
    "normal": Family(
        draw=_normal,
        support=lambda shape: None,
        log_prob=lambda parameters, x: tf.zeros(tf.shape(x)[:1], tf.float64),  # never enumerated
        estimators={
            "score_function": scored(_normal),
            "score_function_leave_one_out": scored(_normal, DRAWS),
            "reparameterized_normal": lambda costs, parameters, seed: costs(
                reparameterized_normal(*parameters, seed=seed)
            ),
        },
    ),
}
