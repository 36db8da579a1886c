"""Gradients that are lost in float16 are reported, and those that a scaled loss saves are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from whygrad.watch import watch

pytestmark = pytest.mark.tensorflow


def train(tf: Any, keras: Any, *, scaled: bool, size: float) -> tuple[list[str], bool]:
    """The rules that fire, and whether the first layer got no gradient at all."""
    keras.utils.set_random_seed(0)
    hidden = keras.layers.Dense(4, dtype="mixed_float16")
    model = keras.Sequential([keras.layers.Input((3,)), hidden, keras.layers.Dense(1)])
    inner = keras.optimizers.SGD(0.1)
    optimizer = keras.optimizers.LossScaleOptimizer(inner, initial_scale=2.0**15) if scaled else inner
    optimizer.build(model.trainable_variables)
    x = tf.random.normal((8, 3), seed=1)

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = size * tf.reduce_mean(tf.square(model(x, training=True) - 1.0))
            target = optimizer.scale_loss(loss) if scaled else loss
        gradients = tape.gradient(target, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return gradients

    with watch() as run:
        gradients = [step() for _ in range(3)][-1]
    return [each.rule for each in run.report().diagnostics], not np.any(gradients[0])


def test_a_gradient_that_float16_cannot_hold_is_reported(tf: Any, keras: Any) -> None:
    assert train(tf, keras, scaled=False, size=1e-8) == (["loss-scale-missing"], True)


def test_silent_where_the_loss_is_scaled(tf: Any, keras: Any) -> None:
    assert train(tf, keras, scaled=True, size=1e-3) == ([], False)


def test_silent_where_float16_can_hold_it(tf: Any, keras: Any) -> None:
    assert train(tf, keras, scaled=False, size=1.0) == ([], False)
