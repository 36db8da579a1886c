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

EAGER = """
for _ in range(6):
    with tf.GradientTape(persistent={persistent}) as tape:
        loss = tf.reduce_sum(w * w)
        scaled = {scaled}
    optimizer.apply_gradients(zip({gradients}, [w]))
"""
ELSEWHERE = """
with tf.GradientTape() as tape:
    other = optimizer.scale_loss(tf.reduce_sum(w))
optimizer.apply_gradients(zip(tape.gradient(other, [w]), [w]))  # a step that is right
"""
NOT_SCALED = """
@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w)
        scaled = optimizer.scale_loss(loss)
    gradients = tape.gradient(loss, [w])
    optimizer.apply_gradients(zip(gradients, [w]))  # wrong
    return scaled
step()
step()
"""
COMPILED = """
half = tf.Variable(0.0)
kept = tf.Variable([0.0, 0.0], trainable=False)

@tf.function
def objective():
    return optimizer.scale_loss(tf.reduce_sum(w * w))

@tf.function
def ask():
    with tf.GradientTape() as tape:
        loss = optimizer.scale_loss(tf.reduce_sum(w * w))
    return tape.gradient(loss, [w])

@tf.function(reduce_retracing=True)
def step(scale, data):
    {body}

for _ in range(3):
    {call}
"""
TAPE = """with tf.GradientTape() as tape:
        loss = {loss}
    gradients = {gradients}
    optimizer.apply_gradients(zip(gradients, [w]))"""
OF_LOSS = "tape.gradient(loss, [w])"
STEP_NOW = "step(tf.constant(2.0 ** 15), tf.ones(2))"


def compiled(loss: str, gradients: str = OF_LOSS, call: str = STEP_NOW) -> str:
    return HEAD + COMPILED.format(body=TAPE.format(loss=loss, gradients=gradients), call=call)


def eager(scaled: str, gradients: str, *, persistent: bool = False) -> str:
    return HEAD + EAGER.format(scaled=scaled, gradients=gradients, persistent=persistent)


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


@pytest.mark.parametrize(
    "source",
    [
        HEAD + NOT_SCALED,
        HEAD + NOT_SCALED + ELSEWHERE,
        HEAD + ELSEWHERE + NOT_SCALED,
        eager("optimizer.scale_loss(loss)", "tape.gradient(loss, [w])"),
        eager("loss", "tape.gradient(scaled, [w])") + ELSEWHERE,
        FIT.format(scale="ignored = self.optimizer.scale_loss(loss)"),
        compiled(SQUARES, call="ask(); " + STEP_NOW),
        compiled("tf.reduce_sum(w * w * data)", call="objective(); " + STEP_NOW),
    ],
    ids=["beside it", "later", "before", "eager", "eager, later", "fit", "in another function", "of data"],
)
def test_fires_when_the_gradients_of_an_update_are_not_those_of_the_loss_that_was_scaled(
    source: str, tf: Any, keras: Any, tmp_path: Path
) -> None:
    found = reported(source, tmp_path)

    assert [rule for rule, _ in found if rule == "loss-scale-missing"] == ["loss-scale-missing"]
    assert all("a step that is right" not in line for _, line in found)


@pytest.mark.parametrize(
    "source",
    [
        HEAD + ELSEWHERE + STEP.format(loss=f"optimizer.scale_loss({SQUARES})"),
        eager("optimizer.scale_loss(loss)", "tape.gradient(scaled, [w])"),
        eager("loss * float(optimizer.dynamic_scale.numpy())", "tape.gradient(scaled, [w])"),
        eager("loss", "[g * optimizer.dynamic_scale for g in tape.gradient(loss, [w])]"),
        eager("loss", "tape.gradient(loss, [w], output_gradients=optimizer.scale_loss(1.0))"),
        eager("optimizer.scale_loss(loss) / 3.0 + 0.0", "tape.gradient(scaled, [w])", persistent=True),
        eager("optimizer.scale_loss(loss)", "[g / 2.0 for g in tape.gradient(scaled, [w])]"),
        compiled("objective()"),
        compiled("tf.cond(tf.reduce_sum(data) > 0.0, objective, lambda: optimizer.scale_loss(tf.reduce_sum(w)))"),
        compiled("tf.reduce_sum(w * w) * scale"),
        compiled(SQUARES, "[g * optimizer.dynamic_scale for g in tape.gradient(loss, [w])]"),
        compiled(SQUARES, "tape.gradient(loss, [w], output_gradients=optimizer.scale_loss(tf.constant(1.0)))"),
        compiled(SQUARES, "ask()"),
        compiled("tf.reduce_sum(w * w) * half", call="half.assign(optimizer.dynamic_scale); " + STEP_NOW),
        compiled(SQUARES, call="optimizer.apply_gradients(zip(ask(), [w]))"),
        compiled("optimizer.scale_loss(tf.reduce_sum(w * w))", "[kept.assign_add(tape.gradient(loss, [w])[0])]"),
        compiled(
            "tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s + optimizer.scale_loss(tf.reduce_sum(w * w))), "
            "(0, 0.0))[1]"
        ),
    ],
    ids=[
        "scaled twice",
        "eager",
        "a number that was read",
        "gradients that are multiplied",
        "gradients that it began with",
        "a sum",
        "gradients that are changed",
        "a function",
        "a branch",
        "an argument",
        "compiled gradients that are multiplied",
        "compiled gradients that it began with",
        "gradients of a function",
        "a variable",
        "an eager update",
        "added up",
        "a loop",
    ],
)
def test_silent_when_the_gradients_of_an_update_come_of_the_scale_in_whatever_way(
    source: str, tf: Any, keras: Any, tmp_path: Path
) -> None:
    assert "loss-scale-missing" not in [rule for rule, _ in reported(source, tmp_path)]
