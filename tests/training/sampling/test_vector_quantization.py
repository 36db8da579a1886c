"""Vector quantisation against a slow twin, and where its gradients go."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow

INPUTS = np.random.default_rng(0).normal(size=(3, 5, 4))
CODEBOOK = np.random.default_rng(1).normal(size=(7, 4))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_each_vector_becomes_exactly_its_nearest_entry(
    tf: ModuleType, sampling: ModuleType, compiled: Callable[..., Any], dtype: str
) -> None:
    inputs, codebook = tf.cast(INPUTS, dtype), tf.cast(CODEBOOK, dtype)

    values, indices, _ = compiled(sampling.vq)(inputs, codebook)

    exact = np.asarray(inputs, np.float64)[..., None, :] - np.asarray(codebook, np.float64)
    nearest = np.square(exact).sum(-1).argmin(-1)
    assert np.array_equal(indices, nearest)
    assert np.array_equal(values, codebook.numpy()[nearest])


def test_gradients_go_where_they_are_promised(tf: ModuleType, sampling: ModuleType) -> None:
    inputs, codebook, weights = tf.Variable(INPUTS), tf.Variable(CODEBOOK), INPUTS[::-1]
    with tf.GradientTape(persistent=True) as tape:
        values, indices, loss = sampling.vq(inputs, codebook, commitment=0.4)
        task = tf.reduce_sum(weights * values)

    assert np.array_equal(tape.gradient(task, inputs), weights)
    assert tape.gradient(task, codebook) is None
    gap = 2.0 * (INPUTS - CODEBOOK[indices.numpy()]) / INPUTS.size
    assert np.allclose(tape.gradient(loss, inputs), 0.4 * gap)
    to_codebook = np.zeros_like(CODEBOOK)
    np.add.at(to_codebook, indices.numpy(), -gap)
    assert np.allclose(tf.convert_to_tensor(tape.gradient(loss, codebook)), to_codebook)


def test_the_loss_is_distance_plus_commitment(tf: ModuleType, sampling: ModuleType) -> None:
    values, _, loss = sampling.vq(INPUTS, CODEBOOK, commitment=0.4)

    assert np.isclose(loss, 1.4 * np.square(INPUTS - values.numpy()).mean())


def test_large_half_precision_vectors_do_not_overflow(tf: ModuleType, sampling: ModuleType) -> None:
    inputs = tf.constant([[300.0, -300.0], [2.0, 1.0]], tf.float16)
    codebook = tf.constant([[299.0, -299.0], [2.0, 0.0]], tf.float16)

    values, indices, loss = sampling.vq(inputs, codebook)

    assert indices.numpy().tolist() == [0, 1]
    assert values.dtype == tf.float16
    assert np.isfinite(loss)


def test_an_unknown_batch_size_is_fine(tf: ModuleType, sampling: ModuleType) -> None:
    run = tf.function(sampling.vq, input_signature=[tf.TensorSpec([None, None, 4]), tf.TensorSpec([7, 4])])

    assert run(tf.constant(INPUTS, tf.float32), tf.constant(CODEBOOK, tf.float32)).indices.shape == (3, 5)


@pytest.mark.parametrize(
    ("inputs", "codebook", "message"),
    [
        ([3, 5], [7, 4], "size 5 and those of `codebook` 4"),
        ([], [7, 4], r"`inputs` has shape \(\)"),
        ([3, 4], [4], r"`codebook` \(4,\)"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(
    tf: ModuleType,
    sampling: ModuleType,
    compiled: Callable[..., Any],
    inputs: list[int],
    codebook: list[int],
    message: str,
) -> None:
    with pytest.raises(sampling.ParameterError, match=message):
        compiled(sampling.vq)(tf.zeros(inputs), tf.zeros(codebook))
