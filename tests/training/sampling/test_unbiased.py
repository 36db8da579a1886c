"""The unbiased estimators are unbiased, and the check that says so catches those that are not."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from training.sampling import problem
from training.sampling.bounds import excess

pytestmark = pytest.mark.tensorflow

DRAWS = 200_000
BITS = np.array([0.4, -0.8, 0.1])


def per_draw(tf: Any, loss: Callable[[Any], Any], parameters: Any, *, jit: bool = False, draws: int = DRAWS) -> Any:
    """One gradient estimate for each copy of the parameters."""
    copies = tf.repeat(tf.constant(parameters, tf.float32)[tf.newaxis], draws, 0)

    def estimate(copies: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(copies)
            total = tf.reduce_sum(loss(copies))
        return tape.gradient(total, copies)

    return tf.function(estimate, jit_compile=jit)(copies).numpy()


def score(tf: Any, sampling: Any, logits: Any, baseline: Any = None, draws: int | None = None) -> Any:
    shape = () if draws is None else (draws,)
    drawn = sampling.draw_categorical(logits, sample_shape=shape, seed=(3, 5))
    log_prob = tf.reduce_sum(drawn.log_prob, -1)
    losses = sampling.score_function(problem.tf_cost(tf, drawn.sample), log_prob, baseline=baseline)
    return losses if draws is None else tf.reduce_mean(losses, 0)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(("baseline", "draws"), [(None, None), (2.5, None), ("leave-one-out", 3)])
def test_the_score_function_has_the_exact_mean(
    tf: ModuleType, sampling: ModuleType, baseline: Any, draws: int | None, jit: bool
) -> None:
    found = per_draw(tf, lambda logits: score(tf, sampling, logits, baseline, draws), problem.LOGITS, jit=jit)

    assert excess(found, problem.categorical_gradient(), width=24.0) < 1.0


def test_a_baseline_that_sees_its_own_sample_is_caught(tf: ModuleType, sampling: ModuleType) -> None:
    def with_own(logits: Any) -> Any:
        drawn = sampling.draw_categorical(logits, sample_shape=(3,), seed=(3, 5))
        cost = problem.tf_cost(tf, drawn.sample)
        own = tf.reduce_mean(cost, 0, keepdims=True)
        log_prob = tf.reduce_sum(drawn.log_prob, -1)
        return tf.reduce_mean(sampling.score_function(cost, log_prob, baseline=own), 0)

    assert excess(per_draw(tf, with_own, problem.LOGITS), problem.categorical_gradient(), width=24.0) > 1.0


@pytest.mark.parametrize(("temperature", "strength"), [(0.5, 1.0), (0.1, 0.5), (2.0, 1.0)])
def test_rebar_has_the_exact_mean(tf: ModuleType, sampling: ModuleType, temperature: float, strength: float) -> None:
    found = per_draw(
        tf,
        lambda logits: sampling.rebar(
            lambda x: problem.tf_cost(tf, x), logits, temperature=temperature, strength=strength, seed=(1, 9)
        ),
        problem.LOGITS,
    )

    assert excess(found, problem.categorical_gradient(), width=200.0) < 1.0


@pytest.mark.parametrize("hard", [False, True])
def test_a_relaxed_sample_is_caught_as_biased(tf: ModuleType, sampling: ModuleType, hard: bool) -> None:
    found = per_draw(
        tf,
        lambda logits: problem.tf_cost(tf, sampling.gumbel_softmax(logits, 0.5, hard=hard, seed=(3, 5))),
        problem.LOGITS,
    )

    assert excess(found, problem.categorical_gradient(), width=100.0) > 1.0


def test_the_bias_of_a_soft_sample_vanishes_with_the_temperature(tf: ModuleType, sampling: ModuleType) -> None:
    truth = problem.categorical_gradient()

    def distance(temperature: float) -> float:
        found = per_draw(
            tf,
            lambda logits: problem.tf_cost(tf, sampling.gumbel_softmax(logits, temperature, seed=(3, 5))),
            problem.LOGITS,
        )
        return float(np.linalg.norm(found.mean(0) - truth))

    assert distance(0.1) < 0.3 * distance(1.0)


def test_the_bernoulli_score_function_has_the_exact_mean(tf: ModuleType, sampling: ModuleType) -> None:
    def loss(logits: Any) -> Any:
        drawn = sampling.draw_bernoulli(logits, seed=(3, 5))
        cost = tf.square(tf.linalg.matvec(drawn.sample, [1.0, 2.0, 3.0]) - 1.3)
        return sampling.score_function(cost, tf.reduce_sum(drawn.log_prob, -1), baseline=4.0)

    assert excess(per_draw(tf, loss, BITS), problem.bernoulli_gradient(BITS), width=60.0) < 1.0


def bump_gradient(mean: float, scale: float) -> np.ndarray[Any, Any]:
    """The gradient of E exp(-x**2 / 2) = (1 + s**2) ** -0.5 * exp(-m**2 / (2 + 2 s**2)) in mean m and scale s."""
    spread = 1.0 + scale**2
    value = math.exp(-(mean**2) / (2.0 * spread)) / math.sqrt(spread)
    return np.array([-mean / spread * value, (mean**2 / spread - 1.0) * scale / spread * value])


@pytest.mark.parametrize("jit", [False, True])
def test_the_reparameterized_normal_has_the_exact_mean(tf: ModuleType, sampling: ModuleType, jit: bool) -> None:
    def loss(both: Any) -> Any:
        return tf.exp(-0.5 * tf.square(sampling.reparameterized_normal(both[:, 0], both[:, 1], seed=(3, 5))))

    assert excess(per_draw(tf, loss, [0.5, 0.8], jit=jit), bump_gradient(0.5, 0.8), width=6.0) < 1.0


def test_the_normal_score_function_has_the_exact_mean(tf: ModuleType, sampling: ModuleType) -> None:
    def loss(both: Any) -> Any:
        drawn = sampling.draw_normal(both[:, 0], both[:, 1], seed=(3, 5))
        return sampling.score_function(tf.exp(-0.5 * tf.square(drawn.sample)), drawn.log_prob)

    assert excess(per_draw(tf, loss, [0.5, 0.8]), bump_gradient(0.5, 0.8), width=60.0) < 1.0


@pytest.mark.parametrize("compilable", [False, True])
def test_the_implicit_gamma_has_the_exact_mean(tf: ModuleType, sampling: ModuleType, compilable: bool) -> None:
    concentration, rate = np.array([0.3, 1.7, 20.0]), np.array([1.0, 0.6, 15.0])

    def loss(both: Any) -> Any:
        drawn = sampling.implicit_gamma(both[:, 0], both[:, 1], seed=(3, 5), compilable=compilable)
        return tf.exp(-drawn)

    value = (rate / (1.0 + rate)) ** concentration  # E exp(-x)
    truth = value * np.stack([np.log(rate / (1.0 + rate)), concentration / (rate * (1.0 + rate))])
    found = per_draw(tf, loss, np.stack([concentration, rate]), jit=compilable)

    assert excess(found, truth, width=12.0) < 1.0


@pytest.mark.parametrize("compilable", [False, True])
def test_the_implicit_beta_has_the_exact_mean(tf: ModuleType, sampling: ModuleType, compilable: bool) -> None:
    def loss(both: Any) -> Any:
        drawn = sampling.implicit_beta(both[:, 0], both[:, 1], seed=(3, 5), compilable=compilable)
        return tf.square(drawn)

    a, b = 0.6, 2.2
    total = a + b
    value = a * (a + 1.0) / (total * (total + 1.0))  # E x**2
    shared = -1.0 / total - 1.0 / (total + 1.0)
    truth = value * np.array([1.0 / a + 1.0 / (a + 1.0) + shared, shared])

    assert excess(per_draw(tf, loss, [a, b], jit=compilable), truth, width=30.0) < 1.0


def test_the_implicit_dirichlet_has_the_exact_mean(tf: ModuleType, sampling: ModuleType) -> None:
    weights = np.array([1.0, -2.0, 0.5])

    def loss(concentration: Any) -> Any:
        drawn = sampling.implicit_dirichlet(concentration, seed=(3, 5))
        return tf.linalg.matvec(tf.square(drawn), tf.constant(weights, tf.float32))

    a = np.array([0.5, 1.5, 3.0])
    total = a.sum()
    moments = a * (a + 1.0) / (total * (total + 1.0))
    shared = -1.0 / total - 1.0 / (total + 1.0)
    truth = weights * moments * (1.0 / a + 1.0 / (a + 1.0)) + shared * (weights @ moments)

    assert excess(per_draw(tf, loss, a), truth, width=40.0) < 1.0


@pytest.mark.parametrize("jit", [False, True])
def test_hard_samples_come_from_the_true_distribution(tf: ModuleType, sampling: ModuleType, jit: bool) -> None:
    def draw() -> Any:
        logits = tf.repeat(tf.constant(problem.LOGITS, tf.float32)[tf.newaxis], DRAWS, 0)
        bits = tf.repeat(tf.constant(BITS, tf.float32)[tf.newaxis], DRAWS, 0)
        return (
            sampling.gumbel_softmax(logits, 0.7, hard=True, seed=(1, 2)),
            sampling.draw_categorical(logits, seed=(3, 4)).sample,
            sampling.relaxed_bernoulli(bits, 0.7, hard=True, seed=(5, 6)),
            sampling.draw_bernoulli(bits, seed=(7, 8)).sample,
        )

    categories, chances = problem.softmax(problem.LOGITS), 1.0 / (1.0 + np.exp(-BITS))
    for drawn, truth in zip(tf.function(draw, jit_compile=jit)(), [categories] * 2 + [chances] * 2, strict=True):
        assert excess(drawn.numpy(), truth, width=2.1) < 1.0
