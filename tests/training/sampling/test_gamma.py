"""Gamma, beta and Dirichlet: the implicit gradient against its definition, and small concentrations."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from training.sampling.bounds import excess

pytestmark = pytest.mark.tensorflow


def implicit_slope(tf: Any, concentration: Any, sample: Any) -> Any:
    """- (d cdf / d concentration) / density: how a sample moves with its concentration if its quantile stays."""
    a, x, step = np.float64(concentration), np.float64(sample), 1e-5
    change = (tf.math.igamma(a + step, x) - tf.math.igamma(a - step, x)) / (2 * step)
    return -change / np.exp((a - 1) * np.log(x) - x - np.array([math.lgamma(each) for each in a]))


def test_the_gradient_keeps_each_sample_at_its_quantile(
    tf: ModuleType, sampling: ModuleType, gradient: Callable[..., Any]
) -> None:
    concentration = np.repeat([0.4, 1.0, 3.0, 30.0], 20)

    sample = sampling.implicit_gamma(tf.constant(concentration), seed=(3, 5))
    found = gradient(lambda a: sampling.implicit_gamma(a, seed=(3, 5)), tf.constant(concentration))

    assert np.allclose(found, implicit_slope(tf, concentration, sample), rtol=1e-4)


def test_the_compilable_sampler_draws_the_same_distribution(tf: ModuleType, sampling: ModuleType) -> None:
    concentration = np.array([0.5, 1.0, 4.0, 100.0])
    samples = sampling.implicit_gamma(
        tf.constant(concentration, tf.float32), sample_shape=(100_000,), seed=(3, 5), compilable=True
    ).numpy()

    for factor in (0.2, 1.0, 5.0):
        rate = factor / concentration  # the mean of exp(-t x) is (1 + t) ** -a
        assert excess(np.exp(-samples * rate), (1.0 + rate) ** -concentration, width=2.1) < 1.0


def test_a_rate_divides_the_sample(tf: ModuleType, sampling: ModuleType) -> None:
    for compilable in (False, True):
        standard = sampling.implicit_gamma([2.0, 3.0], seed=(3, 5), compilable=compilable)
        faster = sampling.implicit_gamma([2.0, 3.0], 4.0, seed=(3, 5), compilable=compilable)
        assert np.allclose(faster, standard / 4.0)


@pytest.mark.parametrize("compilable", [False, True])
def test_concentration_and_rate_broadcast(tf: ModuleType, sampling: ModuleType, compilable: bool) -> None:
    for seed in ((3, 5), None):
        found = sampling.implicit_gamma(
            tf.ones([2, 1]), tf.ones([3]), sample_shape=(4,), seed=seed, compilable=compilable
        )
        assert found.shape == (4, 2, 3)
        assert len(np.unique(found)) == 24


@pytest.mark.parametrize("compilable", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_tiny_concentrations_give_corners_and_never_nan(
    tf: ModuleType, sampling: ModuleType, gradient: Callable[..., Any], dtype: str, compilable: bool
) -> None:
    concentration = tf.fill([200, 4], tf.cast(1e-3, dtype))

    point = sampling.implicit_dirichlet(concentration, seed=(3, 5), compilable=compilable)
    bit = sampling.implicit_beta(concentration, concentration, seed=(3, 5), compilable=compilable)

    assert np.allclose(tf.reduce_sum(tf.cast(point, tf.float32), -1), 1.0, atol=1e-2)
    assert np.isfinite(bit).all()
    assert 0.2 < np.mean(np.asarray(bit, np.float32)) < 0.8
    weights = tf.cast([1.0, 2.0, 3.0, 4.0], dtype)
    slope = gradient(
        lambda a: weights * sampling.implicit_dirichlet(a, seed=(3, 5), compilable=compilable), concentration
    )
    assert not np.isnan(slope).any()
    assert np.isfinite(slope).all() or dtype == "float16"  # slopes here reach 1 / 1e-3 ** 2, beyond float16


def test_samples_too_small_for_float32_still_give_corners(tf: ModuleType, sampling: ModuleType) -> None:
    concentration = tf.fill([200, 4], 1e-3)

    plain = tf.random.stateless_gamma([200, 4], (3, 5), concentration)
    normalised = plain / tf.reduce_sum(plain, -1, keepdims=True)

    # All four have underflowed: normalising them lands in the middle, where the distribution has next to nothing.
    assert np.mean(np.ptp(normalised, -1) == 0.0) > 0.5
    assert np.mean(np.max(sampling.implicit_dirichlet(concentration, seed=(3, 5)), -1) > 0.999) > 0.95
