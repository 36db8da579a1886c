"""Optimizers that divide by a loss scale: compiled updates for which nobody scaled the loss."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from whygrad.watch import watch

pytestmark = pytest.mark.tensorflow

HEAD = """
import numpy as np
import tensorflow as tf
import keras

w = tf.Variable([1.0, 2.0])
optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1))
optimizer.build([w])
"""
STEP = """
@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = {loss}
    optimizer.apply_gradients(zip(tape.gradient(loss, [w]), [w]))
step()
step()
"""
SQUARES = "tf.reduce_sum(w * w)"
FIT = """
import numpy as np
import tensorflow as tf
import keras

class Model(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1, dtype="mixed_float16")

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.cast(self(x), tf.float32) - y))
            {scale}
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {{"loss": loss}}

keras.utils.set_random_seed(0)
model = Model()
model.compile(keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1)))
model.fit(np.ones((16, 3), np.float32), np.ones((16, 1), np.float32), batch_size=8, epochs=2, verbose=0)
"""
APART = """
@tf.function
def ask():
    with tf.GradientTape() as tape:
        loss = optimizer.scale_loss(tf.reduce_sum(w * w))
    return tape.gradient(loss, [w])

@tf.function
def apply(gradients, n):
    optimizer.apply_gradients(zip(gradients, [w]))

for n in range(3):  # `apply` is traced again for every number
    apply(ask(), n)
"""


def reported(source: str, folder: Path) -> list[tuple[str, str]]:
    """The rules, each with the line of source it points at."""
    script = folder / "train.py"
    script.write_text(source)
    with watch() as run:
        runpy.run_path(str(script))
    lines = source.splitlines()
    return [
        (each.rule, lines[each.primary.span.line - 1].strip() if each.primary is not None else "")
        for each in run.report().diagnostics
    ]


@pytest.mark.parametrize("source", [HEAD + STEP.format(loss=SQUARES), FIT.format(scale="pass")], ids=["step", "fit"])
def test_fires_when_a_compiled_update_divides_by_a_scale_that_nobody_multiplied_with(
    source: str, tf: Any, keras: Any, tmp_path: Path
) -> None:
    ((rule, line),) = reported(source, tmp_path)

    assert rule == "loss-scale-missing"
    assert "apply_gradients" in line


@pytest.mark.parametrize(
    "source",
    [
        HEAD + STEP.format(loss=f"optimizer.scale_loss({SQUARES})"),
        HEAD + STEP.format(loss=f"{SQUARES} * optimizer.dynamic_scale"),
        HEAD + APART,
        FIT.format(scale="loss = self.optimizer.scale_loss(loss)"),
    ],
    ids=["scale_loss", "by hand", "in another function", "fit"],
)
def test_silent_when_the_loss_of_a_compiled_update_is_scaled(source: str, tf: Any, keras: Any, tmp_path: Path) -> None:
    assert reported(source, tmp_path) == []
