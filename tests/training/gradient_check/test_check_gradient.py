"""`check_gradient` says right of right gradients, wrong of wrong ones, and kink of kinks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from whygrad.errors import UsageError, WrongGradientError
from whygrad.testing import assert_gradient_correct

pytestmark = pytest.mark.tensorflow

RIGHT: dict[str, Callable[[Any, Any], Any]] = {
    "a polynomial": lambda tf, x: tf.reduce_sum(x**3 - 2.0 * x),
    "an exponential": lambda tf, x: tf.reduce_sum(tf.exp(3.0 * x)),
    "a product of matrices": lambda tf, x: tf.matmul(x, x, transpose_b=True),
    "a softmax": lambda tf, x: tf.nn.softmax(x),
    "a mean and a variance": lambda tf, x: tf.nn.moments(x, [0]),
    "a norm": lambda tf, x: tf.norm(x, axis=-1),
    "a loop": lambda tf, x: tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x + 1.0), [0, x])[1],
    "a compiled function": lambda tf, x: tf.function(lambda y: tf.sin(y) * y)(x),
    "large numbers": lambda tf, x: 1e6 * tf.reduce_sum(tf.sin(x)) + 1e3,
}


def values(dtype: str, *shape: int) -> Any:
    return np.random.default_rng(3).uniform(0.2, 1.5, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", list(RIGHT))
def test_right_gradients_are_right(name: str, dtype: str, tf: Any) -> None:
    check = wg.check_gradient(lambda x: RIGHT[name](tf, x), tf.constant(values(dtype, 3, 4)))

    assert check, str(check)
    assert not check.kinks
    assert check.compared == 12


def wrong_by(tf: Any, factor: float) -> Callable[[Any], Any]:
    @tf.custom_gradient
    def square(x: Any) -> Any:
        return x * x, lambda upstream: upstream * 2.0 * x * factor

    return square


@pytest.mark.parametrize(("dtype", "factor"), [("float32", 1.05), ("float64", 1.0001), ("float64", -1.0)])
def test_wrong_custom_gradients_are_found(dtype: str, factor: float, tf: Any) -> None:
    square = wrong_by(tf, factor)
    check = wg.check_gradient(lambda x: tf.reduce_sum(square(x)), values(dtype, 5))

    assert len(check.wrong) == 5
    assert check.worst is not None
    assert check.worst.analytic == pytest.approx(factor * check.worst.numeric, rel=1e-2)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_right_custom_gradients_are_right(dtype: str, tf: Any) -> None:
    square = wrong_by(tf, 1.0)
    assert wg.check_gradient(lambda x: square(x), values(dtype, 5))


def test_the_worst_element_is_named(tf: Any) -> None:
    @tf.custom_gradient
    def odd(x: Any) -> Any:
        return x * x, lambda upstream: upstream * 2.0 * x * tf.constant([[1.0, 1.0], [1.0, 1.5]], tf.float64)

    check = wg.check_gradient(odd, tf.constant([[1.0, 2.0], [3.0, 4.0]], tf.float64))

    assert [each.index for each in check.wrong] == [(1, 1)]
    assert "[1, 1]" in str(check)


def test_one_wrong_element_among_many_is_found(tf: Any) -> None:
    @tf.custom_gradient
    def odd(x: Any) -> Any:
        factor = np.ones(5000)
        factor[4321] = 3.0
        return tf.reduce_sum(x * x), lambda upstream: upstream * 2.0 * x * factor

    check = wg.check_gradient(odd, values("float64", 5000))

    assert not check
    assert all(each.index is None or each.index == (4321,) for each in check.wrong)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_kink_is_no_error(dtype: str, tf: Any) -> None:
    x = np.array([-1.0, 0.0, 2.0], dtype)
    for function in (tf.nn.relu, tf.abs, lambda t: tf.maximum(t, 0.0)):
        check = wg.check_gradient(lambda t, function=function: tf.reduce_sum(function(t)), x)
        assert check, str(check)
        assert [each.index for each in check.kinks] <= [(1,)]
    assert [each.index for each in wg.check_gradient(tf.nn.relu, x).kinks] == [(1,)]


def test_a_gradient_beyond_both_slopes_of_a_kink_is_wrong(tf: Any) -> None:
    @tf.custom_gradient
    def odd(x: Any) -> Any:
        return tf.nn.relu(x), lambda upstream: upstream * 2.0

    assert len(wg.check_gradient(odd, np.array([0.0])).wrong) == 1


def test_a_kink_close_by_is_no_error(tf: Any) -> None:
    assert wg.check_gradient(tf.nn.relu, np.array([1e-6, -1e-6, 3e-5]))


def test_gradients_that_are_missing_are_named(tf: Any) -> None:
    w = tf.Variable([1.0, 2.0], name="w")
    check = wg.check_gradient(lambda x, w: tf.reduce_sum(x * tf.stop_gradient(w)), [values("float32", 2), w])

    assert check.missing == ("`w`",)
    np.testing.assert_array_equal(w.numpy(), [1.0, 2.0])


def test_variables_that_a_model_reads_are_checked(tf: Any, keras: Any) -> None:
    keras.utils.set_random_seed(0)
    layer = keras.layers.Dense(3, activation="tanh", dtype="float64")
    x = tf.constant(values("float64", 4, 2))
    layer(x)
    before = [w.numpy() for w in layer.weights]
    check = wg.check_gradient(lambda *_: layer(x), [w.value for w in layer.weights])

    assert check, str(check)
    for one, weight in zip(before, layer.weights, strict=True):
        np.testing.assert_array_equal(one, weight.numpy())


def test_nan_gradients_are_wrong(tf: Any) -> None:
    check = wg.check_gradient(lambda x: tf.where(x < 1.0, tf.acos(x), x), np.array([3.0, 0.5]))

    assert [each.index for each in check.wrong] == [(0,)]


def test_randomness_is_refused(tf: Any) -> None:
    with pytest.raises(UsageError, match="for the same inputs"):
        wg.check_gradient(lambda x: tf.reduce_sum(x * tf.random.normal((3,), dtype=tf.float64)), values("float64", 3))


def test_integers_are_refused(tf: Any) -> None:
    with pytest.raises(UsageError, match="int"):
        wg.check_gradient(lambda x: x, np.array([1, 2]))


def test_the_complex_step_is_used_where_it_can_be(tf: Any) -> None:
    assert wg.check_gradient(lambda x: tf.exp(x) * x, values("float64", 3)).method == "complex step"
    assert wg.check_gradient(lambda x: tf.abs(x), values("float64", 3)).method == "central differences"
    nonsense = wg.check_gradient(lambda x: x * tf.math.conj(x), values("float64", 3))
    assert nonsense, str(nonsense)


def test_the_assertion_tells_the_worst_element(tf: Any) -> None:
    assert_gradient_correct(lambda x: tf.sin(x), values("float64", 3))
    square = wrong_by(tf, 2.0)
    with pytest.raises(WrongGradientError, match=r"worst at input 0 \[\d\]"):
        assert_gradient_correct(lambda x: square(x), values("float64", 3))
