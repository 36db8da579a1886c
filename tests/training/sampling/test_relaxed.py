"""Gumbel-softmax and the relaxed Bernoulli against their definitions."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow

LOGITS = np.random.default_rng(0).normal(size=(50, 4))


def softmax(x: Any) -> Any:
    raised = np.exp(x - x.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True)


def gumbel_noise(tf: Any, shape: tuple[int, ...], pair: tuple[int, int]) -> Any:
    tiny = np.finfo(np.float32).tiny
    uniform = tf.random.stateless_uniform(shape, pair, tiny, 1.0, alg="philox").numpy().astype(np.float64)
    return -np.log(-np.log(uniform))


def test_the_soft_sample_is_the_softmax_of_noisy_logits(tf: ModuleType, sampling: ModuleType) -> None:
    logits = tf.constant(LOGITS, tf.float32)

    found = sampling.gumbel_softmax(logits, 0.4, seed=(3, 5))

    assert np.allclose(found, softmax((LOGITS + gumbel_noise(tf, (50, 4), (3, 5))) / 0.4), atol=1e-5)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_a_hard_sample_is_the_corner_nearest_to_the_soft_one(
    tf: ModuleType, sampling: ModuleType, compiled: Callable[..., Any], axis: int
) -> None:
    logits = tf.constant(LOGITS, tf.float32)

    soft = compiled(lambda x: sampling.gumbel_softmax(x, 0.4, axis=axis, seed=(3, 5)))(logits)
    hard = compiled(lambda x: sampling.gumbel_softmax(x, 0.4, axis=axis, hard=True, seed=(3, 5)))(logits)

    assert set(np.unique(hard)) == {0.0, 1.0}
    assert np.array_equal(tf.argmax(hard, axis), tf.argmax(soft, axis))
    assert np.array_equal(tf.reduce_sum(hard, axis), tf.ones_like(hard[0] if axis == 0 else hard[:, 0]))


def test_a_hard_sample_has_exactly_the_gradient_of_the_soft_one(
    tf: ModuleType, sampling: ModuleType, gradient: Callable[..., Any]
) -> None:
    logits, weights = tf.constant(LOGITS, tf.float32), tf.constant(LOGITS[::-1], tf.float32)

    def weighted(hard: bool) -> Any:
        return gradient(lambda x: weights * sampling.gumbel_softmax(x, 0.4, hard=hard, seed=(3, 5)), logits)

    def weighted_bits(hard: bool) -> Any:
        return gradient(lambda x: weights * sampling.relaxed_bernoulli(x, 0.4, hard=hard, seed=(3, 5)), logits)

    assert np.array_equal(weighted(True), weighted(False))
    assert np.array_equal(weighted_bits(True), weighted_bits(False))


def test_adding_a_constant_to_the_logits_changes_nothing(tf: ModuleType, sampling: ModuleType) -> None:
    first = sampling.gumbel_softmax(tf.constant(LOGITS), 0.4, seed=(3, 5))
    second = sampling.gumbel_softmax(tf.constant(LOGITS + 7.0), 0.4, seed=(3, 5))

    assert np.allclose(first, second, rtol=1e-9)


def test_a_relaxed_bit_is_the_sigmoid_of_a_noisy_logit(tf: ModuleType, sampling: ModuleType) -> None:
    tiny = np.finfo(np.float32).tiny
    uniform = tf.random.stateless_uniform((50, 4), (3, 5), tiny, 1.0, alg="philox").numpy().astype(np.float64)
    noisy = LOGITS + np.log(uniform) - np.log1p(-uniform)

    soft = sampling.relaxed_bernoulli(tf.constant(LOGITS, tf.float32), 0.4, seed=(3, 5))
    hard = sampling.relaxed_bernoulli(tf.constant(LOGITS, tf.float32), 0.4, hard=True, seed=(3, 5))

    assert np.allclose(soft, 1.0 / (1.0 + np.exp(-noisy / 0.4)), atol=1e-5)
    assert np.array_equal(hard, (noisy > 0).astype(np.float32))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_masked_and_extreme_logits_at_a_low_temperature_give_no_nan(
    tf: ModuleType, sampling: ModuleType, gradient: Callable[..., Any], dtype: str
) -> None:
    logits = tf.cast([[60000.0, -60000.0, 0.0], [-np.inf, 1.0, 2.0]], dtype)
    weights = tf.cast([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype)

    for hard in (False, True):
        sample = sampling.gumbel_softmax(logits, 1e-3, hard=hard, seed=(3, 5))
        assert np.isfinite(sample).all()
        assert sample[1, 0] == 0.0
        slope = gradient(
            lambda x, hard=hard: weights * sampling.gumbel_softmax(x, 1e-3, hard=hard, seed=(3, 5)), logits
        )
        assert np.isfinite(slope).all()


def test_the_variance_grows_as_the_temperature_falls(
    tf: ModuleType, sampling: ModuleType, gradient: Callable[..., Any]
) -> None:
    logits = tf.zeros([100_000, 2])

    def variance(temperature: float) -> float:
        slope = gradient(lambda x: sampling.gumbel_softmax(x, temperature, seed=(3, 5))[:, 0], logits)
        return float(np.var(slope[:, 0]))

    # As 1 / temperature: ten times colder, about ten times the variance.
    assert 8.0 < variance(0.01) / variance(0.1) < 12.0


def test_a_temperature_schedule_falls_to_its_floor(tf: ModuleType, sampling: ModuleType) -> None:
    schedule = sampling.TemperatureSchedule(start=2.0, floor=0.5, half_life=10)

    assert [schedule(step) for step in (0, 10, 20, 1000)] == [2.0, 1.0, 0.5, 0.5]
    assert [float(schedule(tf.Variable(step))) for step in (0, 10, 20, 1000)] == [2.0, 1.0, 0.5, 0.5]


def test_a_schedule_on_a_variable_is_followed_by_a_compiled_step(tf: ModuleType, sampling: ModuleType) -> None:
    schedule, step = sampling.TemperatureSchedule(start=2.0, floor=0.1, half_life=10), tf.Variable(0)
    draw = tf.function(lambda: sampling.gumbel_softmax(tf.zeros([5]), schedule(step), seed=(3, 5)), jit_compile=True)

    warm = draw()
    step.assign(1000)

    assert np.max(draw()) > np.max(warm)
