"""The reparameterised normal against its definition."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow


def test_it_is_mean_plus_scale_times_noise_with_the_gradients_of_that(
    tf: ModuleType, sampling: ModuleType, compiled: Callable[..., Any]
) -> None:
    mean, scale = tf.constant([[0.5, -1.0], [2.0, 3.0]]), tf.constant([0.1, 2.0])

    def run(mean: Any, scale: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([mean, scale])
            sample = sampling.reparameterized_normal(mean, scale, sample_shape=(7,), seed=(3, 5))
        return sample, tape.gradient(sample, [mean, scale])

    sample, (to_mean, to_scale) = compiled(run)(mean, scale)

    noise = (sample - mean) / scale
    assert sample.shape == (7, 2, 2)
    assert np.array_equal(to_mean, np.full((2, 2), 7.0))
    assert np.allclose(to_scale, tf.reduce_sum(noise, [0, 1]), atol=1e-4)


def test_a_log_variance_is_another_way_to_say_the_scale(tf: ModuleType, sampling: ModuleType) -> None:
    scale = np.array([0.1, 1.0, 20.0])

    by_scale = sampling.reparameterized_normal(tf.zeros([3], tf.float64), scale, seed=(3, 5))
    by_variance = sampling.reparameterized_normal(
        tf.zeros([3], tf.float64), log_variance=2.0 * np.log(scale), seed=(3, 5)
    )

    assert np.allclose(by_scale, by_variance, rtol=1e-12)


def test_a_mean_and_scale_of_unknown_shape_broadcast(tf: ModuleType, sampling: ModuleType) -> None:
    unknown = [tf.TensorSpec(None, tf.float32), tf.TensorSpec([None], tf.float32)]
    draw = tf.function(
        lambda mean, scale: sampling.reparameterized_normal(mean, scale, sample_shape=(4,), seed=(3, 5)),
        input_signature=unknown,
    )

    found = draw(tf.zeros([2, 1]), tf.ones([3]))

    assert found.shape == (4, 2, 3)
    assert len(np.unique(found)) == 24


def test_python_numbers_are_parameters_too(sampling: ModuleType) -> None:
    assert sampling.reparameterized_normal(0, 1, sample_shape=(3,), seed=(3, 5)).shape == (3,)
