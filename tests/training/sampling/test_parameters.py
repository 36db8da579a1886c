"""Bad parameters get one clear error: eagerly, and in a traced or compiled function where they are known."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from whygrad.errors import UsageError

pytestmark = pytest.mark.tensorflow

BAD: dict[str, tuple[Callable[[Any, Any], Any], str, str]] = {
    "negative scale": (
        lambda tf, s: s.reparameterized_normal(tf.zeros([2]), [0.5, -1.0]),
        "`scale` must be positive and is negative (-1)",
        "softplus",
    ),
    "zero scale": (
        lambda tf, s: s.reparameterized_normal(tf.zeros([2]), 0.0),
        "`scale` must be positive and is zero",
        "log_variance",
    ),
    "NaN scale": (
        lambda tf, s: s.reparameterized_normal(tf.zeros([2]), [np.nan, 1.0]),
        "`scale` is NaN",
        "softplus",
    ),
    "infinite scale": (lambda tf, s: s.draw_normal(tf.zeros([2]), np.inf), "`scale` is infinite", "softplus"),
    "no scale": (
        lambda tf, s: s.reparameterized_normal(tf.zeros([2])),
        "a normal sample needs `scale` or `log_variance`, and only one of them",
        "reparameterized_normal(mean, scale)",
    ),
    "scale that does not broadcast": (
        lambda tf, s: s.reparameterized_normal(tf.zeros([2]), tf.ones([3])),
        "`mean` has shape (2,) and `scale` (3,), which do not broadcast",
        "one entry per element",
    ),
    "scale of another type": (
        lambda tf, s: s.reparameterized_normal(tf.zeros([2]), tf.ones([2], tf.float64)),
        "`scale` is float64 and `mean` is float32",
        "tf.cast(scale, mean.dtype)",
    ),
    "temperature zero": (
        lambda tf, s: s.gumbel_softmax(tf.zeros([3]), 0.0),
        "`temperature` must be positive and is zero",
        "hard=True",
    ),
    "negative temperature of a bit": (
        lambda tf, s: s.relaxed_bernoulli(tf.zeros([3]), tf.constant(-1.0)),
        "`temperature` must be positive and is negative (-1)",
        "hard=True",
    ),
    "integer logits": (
        lambda tf, s: s.gumbel_softmax(tf.constant([1, 2, 3])),
        "`logits` is int32, and only floating-point values carry a gradient",
        "tf.cast(logits, tf.float32)",
    ),
    "integer array": (
        lambda tf, s: s.straight_through_round(np.array([1, 2])),
        "`x` is int64, and only floating-point values carry a gradient",
        "tf.cast(x, tf.float32)",
    ),
    "scalar logits": (
        lambda tf, s: s.straight_through_onehot(1.0),
        "`logits` has 0 dimensions, so it has no axis -1",
        "one entry per category",
    ),
    "no categories": (
        lambda tf, s: s.draw_categorical(tf.zeros([4, 0])),
        "`logits` has no categories: its shape is (4, 0)",
        "at least one",
    ),
    "axis that is not there": (
        lambda tf, s: s.gumbel_softmax(tf.zeros([3]), axis=1),
        "`logits` has 1 dimensions, so it has no axis 1",
        "`axis`",
    ),
    "k too large": (
        lambda tf, s: s.straight_through_top_k(tf.zeros([3]), 4),
        "`k` is 4 and `logits` has 3 entries",
        "1 <= k",
    ),
    "clip zero": (
        lambda tf, s: s.straight_through_sign(tf.zeros([3]), clip=0.0),
        "`clip` must be a positive number, got 0.0",
        "None",
    ),
    "negative concentration": (
        lambda tf, s: s.implicit_gamma([1.0, -2.0]),
        "`concentration` must be positive and is negative (-2)",
        "softplus",
    ),
    "zero rate": (lambda tf, s: s.implicit_gamma(1.0, 0.0), "`rate` must be positive and is zero", "softplus"),
    "zero concentration of a beta": (
        lambda tf, s: s.implicit_beta(1.0, 0.0),
        "`concentration0` must be positive and is zero",
        "softplus",
    ),
    "negative concentration of a Dirichlet": (
        lambda tf, s: s.implicit_dirichlet([1.0, -1.0]),
        "`concentration` must be positive and is negative (-1)",
        "softplus",
    ),
    "negative commitment": (
        lambda tf, s: s.vq(tf.zeros([2, 3]), tf.zeros([4, 3]), commitment=-1.0),
        "`commitment` must be a number of at least 0, got -1.0",
        "0.25",
    ),
    "single seed": (
        lambda tf, s: s.gumbel_softmax(tf.zeros([3]), seed=42),
        "`seed` is one integer, which would draw the same noise in every step",
        "seed=(42, step)",
    ),
    "three seeds": (
        lambda tf, s: s.gumbel_softmax(tf.zeros([3]), seed=[1, 2, 3]),
        "`seed` has shape (3,) and type int32",
        "pair of integers",
    ),
    "decay of 1": (
        lambda tf, s: s.MovingAverage(1.0),
        "`decay` must be from 0 to below 1, got 1.0",
        "0.99",
    ),
    "rising temperature": (
        lambda tf, s: s.TemperatureSchedule(start=0.1, floor=0.5),
        "a temperature cannot fall from 0.1 to 0.5 with a half-life of 1000.0",
        "0 < floor <= start",
    ),
    "cost of the wrong shape": (
        lambda tf, s: s.rebar(lambda x: tf.reduce_sum(x, 0), tf.zeros([5, 3])),
        "`loss` returned shape (3,), and the samples are of shape (5,)",
        "one cost per sample",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_parameter_is_one_clear_error(
    tf: ModuleType, sampling: ModuleType, compiled: Callable[..., Any], case: str
) -> None:
    call, message, help = BAD[case]

    with pytest.raises(sampling.ParameterError) as caught:
        compiled(lambda: call(tf, sampling))()

    assert isinstance(caught.value, UsageError)
    assert caught.value.message == message
    assert help in (caught.value.help or "")


def test_a_bad_value_in_a_variable_is_seen_eagerly(tf: ModuleType, sampling: ModuleType) -> None:
    with pytest.raises(sampling.ParameterError, match="negative"):
        sampling.reparameterized_normal(tf.zeros([2]), tf.Variable([1.0, -1.0]))


def test_a_value_that_tracing_cannot_know_is_not_guessed_at(tf: ModuleType, sampling: ModuleType) -> None:
    scale = tf.Variable(-1.0)
    draw = tf.function(lambda: sampling.reparameterized_normal(0.0, scale))
    traced = draw.get_concrete_function()  # while the scale is still bad

    scale.assign(2.0)

    assert np.isfinite(traced())


def test_a_symbolic_keras_tensor_is_named(keras: ModuleType, sampling: ModuleType) -> None:
    with pytest.raises(sampling.ParameterError, match="`logits` is a symbolic Keras tensor"):
        sampling.gumbel_softmax(keras.Input((3,)))


@pytest.mark.parametrize("library", ["keras", "tf_keras"])
def test_estimators_work_inside_a_keras_layer(
    request: pytest.FixtureRequest, tf: ModuleType, sampling: ModuleType, library: str
) -> None:
    keras = request.getfixturevalue(library)

    class Code(keras.layers.Layer):
        def call(self, logits: Any) -> Any:
            return sampling.gumbel_softmax(logits, 0.5, hard=True)

        def compute_output_shape(self, input_shape: Any) -> Any:
            return input_shape

    inputs = keras.Input((3,))
    model = keras.Model(inputs, keras.layers.Dense(1)(Code()(keras.layers.Dense(4)(inputs))))
    model.compile("sgd", "mse")
    before = [w.copy() for w in model.get_weights()]
    model.fit(np.ones((8, 3), np.float32), np.ones((8, 1), np.float32), verbose=0)

    assert not any(np.array_equal(a, b) for a, b in zip(before, model.get_weights(), strict=True))
