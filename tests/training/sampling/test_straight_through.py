"""Straight-through: exactly the discrete value, exactly the surrogate's gradient."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

pytestmark = pytest.mark.tensorflow

FLOATS = ["float16", "bfloat16", "float32", "float64"]


def values(shape: tuple[int, ...], seed: int = 0, scale: float = 3.0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).normal(size=shape, scale=scale)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["round", "sign"])
def test_the_value_is_exactly_that_of_the_discrete_function(
    tf: ModuleType, sampling: ModuleType, compiled: Callable[..., Any], name: str, dtype: str
) -> None:
    x = tf.cast(values((1000,), scale=30.0), dtype)
    function = getattr(sampling, f"straight_through_{name}")

    assert np.array_equal(compiled(function)(x), getattr(tf, name)(x))


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(x=hnp.arrays(np.float32, 5, elements=st.floats(-1e6, 1e6, width=32)))
def test_rounding_is_exact_for_any_numbers(tf: ModuleType, sampling: ModuleType, x: Any) -> None:
    assert np.array_equal(sampling.straight_through_round(x), np.round(x))


def test_the_usual_spelling_is_not_exact_but_ours_is(tf: ModuleType, sampling: ModuleType) -> None:
    x = tf.constant(values((1000,), scale=30.0), tf.float32)
    tenths = tf.round(x * 0.01) * 0.1

    assert not np.array_equal(x + tf.stop_gradient(tenths - x), tenths)
    assert np.array_equal(sampling.straight_through(lambda x: tf.round(x * 0.01) * 0.1)(x), tenths)


def test_round_passes_the_gradient_unchanged(
    tf: ModuleType, sampling: ModuleType, compiled: Callable[..., Any], gradient: Callable[..., Any]
) -> None:
    x = tf.constant(values((40,)), tf.float32)
    weights = tf.constant(values((40,), seed=1), tf.float32)

    found = compiled(lambda x: gradient(lambda x: weights * sampling.straight_through_round(x), x))(x)

    assert np.array_equal(found, weights)


def test_sign_passes_the_gradient_inside_the_clip_only(
    tf: ModuleType, sampling: ModuleType, gradient: Callable[..., Any]
) -> None:
    x = tf.constant([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])

    assert gradient(sampling.straight_through_sign, x).numpy().tolist() == [0, 1, 1, 1, 1, 1, 0]
    assert gradient(lambda x: sampling.straight_through_sign(x, clip=0.6), x).numpy().tolist() == [0, 0, 1, 1, 1, 0, 0]
    assert gradient(lambda x: sampling.straight_through_sign(x, clip=None), x).numpy().tolist() == [1] * 7


@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("dtype", FLOATS)
def test_onehot_is_exact_along_any_axis(
    tf: ModuleType, sampling: ModuleType, compiled: Callable[..., Any], axis: int, dtype: str
) -> None:
    logits = tf.cast(values((4, 5, 6)), dtype)

    hot = compiled(lambda x: sampling.straight_through_onehot(x, axis=axis))(logits)

    assert np.array_equal(hot, tf.cast(tf.one_hot(tf.argmax(logits, axis), logits.shape[axis], axis=axis), dtype))


def test_onehot_has_the_gradient_of_the_softmax(
    tf: ModuleType, sampling: ModuleType, gradient: Callable[..., Any]
) -> None:
    logits, weights = tf.constant(values((4, 5)), tf.float32), tf.constant(values((4, 5), seed=1), tf.float32)

    found = gradient(lambda x: weights * sampling.straight_through_onehot(x, temperature=0.7), logits)

    assert np.array_equal(found, gradient(lambda x: weights * tf.nn.softmax(x / 0.7), logits))


def test_argmax_is_the_position_with_the_gradient_of_the_mean_position(
    tf: ModuleType, sampling: ModuleType, gradient: Callable[..., Any]
) -> None:
    logits = tf.constant(values((4, 5, 3)), tf.float64)
    places = tf.range(5, dtype=tf.float64)[:, None]

    found = sampling.straight_through_argmax(logits, axis=1)

    assert np.array_equal(found, tf.argmax(logits, 1))
    mean_place = gradient(lambda x: tf.reduce_sum(places * tf.nn.softmax(x, 1), 1), logits)
    assert np.allclose(gradient(lambda x: sampling.straight_through_argmax(x, axis=1), logits), mean_place, rtol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_top_k_marks_the_k_largest_with_the_gradient_of_k_softmaxes(
    tf: ModuleType, sampling: ModuleType, compiled: Callable[..., Any], gradient: Callable[..., Any], k: int
) -> None:
    logits, weights = tf.constant(values((7, 5)), tf.float32), tf.constant(values((7, 5), seed=1), tf.float32)

    mask = compiled(lambda x: sampling.straight_through_top_k(x, k))(logits).numpy()

    order = np.argsort(-logits.numpy(), -1)[:, :k]
    assert set(np.unique(mask)) <= {0.0, 1.0}
    assert all(set(np.flatnonzero(row)) == set(places) for row, places in zip(mask, order, strict=True))
    found = gradient(lambda x: weights * sampling.straight_through_top_k(x, k), logits)
    assert np.allclose(found, gradient(lambda x: weights * k * tf.nn.softmax(x), logits), rtol=1e-6, atol=1e-7)


def test_masked_logits_give_no_nan(tf: ModuleType, sampling: ModuleType, gradient: Callable[..., Any]) -> None:
    logits = tf.constant([[1.0, -np.inf, 2.0], [-np.inf, -np.inf, 0.0]])
    weights = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])

    for function in (sampling.straight_through_onehot, lambda x: sampling.straight_through_top_k(x, 1)):
        assert function(logits).numpy().tolist() == [[0, 0, 1], [0, 0, 1]]
        assert np.isfinite(gradient(lambda x, f=function: weights * f(x), logits)).all()


def test_any_function_can_be_wrapped(tf: ModuleType, sampling: ModuleType, gradient: Callable[..., Any]) -> None:
    x = tf.constant([-0.4, 0.2, 0.9])
    buckets = sampling.straight_through(lambda x, step: tf.floor(x / step) * step)
    bits = sampling.straight_through(lambda x: x > 0.5, surrogate=tf.sigmoid)

    assert np.array_equal(buckets(x, 0.25), np.floor(x.numpy() / np.float32(0.25)) * np.float32(0.25))
    assert gradient(lambda x: buckets(x, 0.25), x).numpy().tolist() == [1, 1, 1]
    assert bits(x).numpy().tolist() == [0, 0, 1]
    assert np.array_equal(gradient(bits, x), gradient(tf.sigmoid, x))


def test_python_control_flow_in_a_wrapped_function_is_converted(tf: ModuleType, sampling: ModuleType) -> None:
    def halve_if_large(x: Any) -> Any:
        if tf.reduce_max(x) > 1.0:
            x = tf.floor(x / 2.0)
        return x

    wrapped = tf.function(lambda x: sampling.straight_through(halve_if_large)(x))

    assert wrapped(tf.constant([5.0, 0.5])).numpy().tolist() == [2, 0]
    assert wrapped(tf.constant([0.5, 0.25])).numpy().tolist() == [0.5, 0.25]


def test_nothing_inside_a_wrapped_function_gets_a_gradient(tf: ModuleType, sampling: ModuleType) -> None:
    step, x = tf.Variable(0.5), tf.Variable([0.3, 0.8])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(sampling.straight_through(lambda x: tf.round(x / step) * step)(x))

    assert [g if g is None else g.numpy().tolist() for g in tape.gradient(loss, [step, x])] == [None, [1, 1]]


def test_a_wrapped_function_that_changes_the_shape_is_refused(tf: ModuleType, sampling: ModuleType) -> None:
    with pytest.raises(sampling.ParameterError, match=r"`function\(x\)` has shape \(2,\) and `x` \(2, 3\)"):
        sampling.straight_through(lambda x: tf.argmax(x, -1))(tf.ones([2, 3]))
