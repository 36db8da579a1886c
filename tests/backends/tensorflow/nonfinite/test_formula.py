"""Custom gradients held against the slope of their functions: in eager code, in a compiled step, in `fit`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from whygrad.watch import watch

pytestmark = pytest.mark.tensorflow

Formula = Callable[[Any, Any], tuple[Any, Any]]  # (tf, x) -> (result, gradient function)

WRONG: dict[str, Formula] = {
    "an exponent forgotten": lambda tf, x: (x * x * x, lambda up: up * 3.0 * x),
    "a factor forgotten": lambda tf, x: (tf.square(x), lambda up: up * x),
    "a sign forgotten": lambda tf, x: (tf.cos(x), lambda up: up * tf.sin(x)),
    "of the result, not of the argument": lambda tf, x: (tf.sigmoid(x), lambda up: up * x * (1 - x)),
}
UNCERTAIN: dict[str, Formula] = {
    "scaled": lambda tf, x: (tf.tanh(x), lambda up: -0.1 * up * (1 - tf.tanh(x) ** 2)),
    "of a line": lambda tf, x: (3.0 * x, lambda up: up),
    "clipped": lambda tf, x: (tf.square(x), lambda up: tf.clip_by_value(up * 2.0 * x, -0.01, 0.01)),
}
RIGHT: dict[str, Formula] = {
    "a stable softplus": lambda tf, x: (tf.math.log(1 + tf.exp(x)), lambda up: up * (1 - 1 / (1 + tf.exp(x)))),
    "gradient reversal": lambda tf, x: (tf.identity(x), lambda up: -0.3 * up),
    "straight through": lambda tf, x: (tf.round(x), lambda up: up),
    "a clip that lets through": lambda tf, x: (tf.clip_by_value(x, 0.0, 0.4), lambda up: up),
    "gradient clipping": lambda tf, x: (tf.identity(x), lambda up: tf.clip_by_norm(up, 0.01)),
    "a spike with a made-up slope": lambda tf, x: (tf.cast(x > 0.2, x.dtype), lambda up: up / (1 + tf.abs(x)) ** 2),
    "guided": lambda tf, x: (tf.nn.relu(x), lambda up: up * tf.cast((up > 0) & (x > 0), up.dtype)),
    "noisy": lambda tf, x: (x * x + tf.random.normal(tf.shape(x)), lambda up: up * 2.0 * x),
}


def train(tf: ModuleType, mode: str, formula: Formula) -> Any:
    """A few steps with a function that has this gradient; what is reported of it."""
    tf.keras.utils.set_random_seed(1)
    x, y = tf.random.normal((8, 4)), tf.random.normal((8, 4))
    function = tf.custom_gradient(lambda x: formula(tf, x))

    class Layer(tf.keras.layers.Layer):  # type: ignore[misc, name-defined]
        def build(self, shape: Any) -> None:
            self.w = self.add_weight(shape=(4, 4), initializer=tf.keras.initializers.RandomNormal(stddev=1.0, seed=1))

        def call(self, x: Any) -> Any:
            return function(tf.matmul(x, self.w))

    net = tf.keras.Sequential([Layer()])
    optimizer = tf.keras.optimizers.SGD(0.01)

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(x) - y) ** 2)
        variables = net.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))

    with watch() as run:
        if mode == "fit":
            net.compile(optimizer, "mse")
            net.fit(x, y, epochs=2, verbose=0)
        else:
            net.build((None, 4))
            repeated = step if mode == "eager" else tf.function(step)
            for _ in range(3):
                repeated()
    return [d for d in run.report().diagnostics if d.rule == "wrong-custom-gradient"]


by_mode = pytest.mark.parametrize("mode", ["eager", "compiled", "fit"])


@by_mode
def test_a_formula_that_is_not_the_derivative_is_an_error_with_both_numbers(tf: ModuleType, mode: str) -> None:
    for name, formula in WRONG.items():
        [found] = train(tf, mode, formula)
        assert (name, found.severity.name, found.certain) == (name, "ERROR", True)
        assert "it gives" in found.message


@by_mode
def test_a_formula_that_may_be_meant_is_a_note(tf: ModuleType, mode: str) -> None:
    for name, formula in UNCERTAIN.items():
        assert (name, [d.severity.name for d in train(tf, mode, formula)]) == (name, ["NOTE"])


@by_mode
def test_right_formulas_and_plain_surrogates_are_silent(tf: ModuleType, mode: str) -> None:
    for name, formula in RIGHT.items():
        assert (name, train(tf, mode, formula)) == (name, [])


@by_mode
def test_a_checked_gradient_leaves_the_training_as_it_was(tf: ModuleType, mode: str) -> None:
    def weights(watched: bool) -> list[Any]:
        tf.keras.utils.set_random_seed(1)
        x, y = tf.random.normal((8, 4)), tf.random.normal((8, 1))
        cube = tf.custom_gradient(lambda x: (x * x * x, lambda up: up * 3.0 * x))
        net = tf.keras.Sequential(
            [tf.keras.layers.Dense(4, cube), tf.keras.layers.Dropout(0.5), tf.keras.layers.Dense(1)]
        )
        net.compile(tf.keras.optimizers.Adam(0.01), "mse", run_eagerly=mode == "eager", jit_compile=mode == "compiled")
        with watch() if watched else contextlib.nullcontext() as run:
            net.fit(x, y, epochs=3, verbose=0)
        assert run is None or [d.rule for d in run.report().diagnostics] == ["wrong-custom-gradient"]
        return [*net.get_weights(), tf.random.normal((3,)).numpy()]

    for plain, seen in zip(weights(False), weights(True), strict=True):
        np.testing.assert_array_equal(plain, seen)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_function_that_is_fed_by_another_is_checked_too(tf: ModuleType, compiled: bool) -> None:
    double = tf.custom_gradient(lambda x: (tf.tanh(x), lambda up: up * (1 - tf.tanh(x) ** 2)))
    square = tf.custom_gradient(lambda x: (x * x, lambda up: up * x))
    w = tf.Variable([0.4, 0.9, 1.7])

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(square(double(w * 1.0)))
        return tape.gradient(loss, w)

    with watch() as run:
        (tf.function(step) if compiled else step)()

    assert [d.message.count("it gives") for d in run.report().diagnostics] == [1]
