"""What cuts the gradient inside a `py_function` is found there, though the graph around it gets one another way."""

from __future__ import annotations

from typing import Any

import pytest

from whygrad.watch import watch

pytestmark = pytest.mark.tensorflow


def told(tf: Any, inner: Any) -> list[tuple[str, str]]:
    weight = tf.Variable(2.0, name="weight")

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = weight * x
            extra = tf.py_function(inner, [y], tf.float32)
            loss = y**2 + tf.ensure_shape(extra, [])
        return tape.gradient(loss, weight)

    with watch() as run:
        step(tf.constant(1.5))
    found = [each for each in run.report().diagnostics if each.severity >= 2]
    return [(each.rule, each.message.split(":")[0]) for each in found]


def test_a_comparison_in_it_is_told(tf: Any) -> None:
    def inner(values: Any) -> Any:
        return tf.cast(values > 0.5, tf.float32)

    assert told(tf, inner) == [("non-differentiable-op", "no gradient reaches `what inner is given`")]


def test_one_that_passes_the_gradient_is_left_in_peace(tf: Any) -> None:
    def inner(values: Any) -> Any:
        return tf.tanh(values)

    assert told(tf, inner) == []
