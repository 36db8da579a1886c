"""What is not finite and harmless is not reported."""

from __future__ import annotations

import runpy
import weakref
from pathlib import Path
from typing import Any

import pytest

from whygrad.watch import watch

pytestmark = pytest.mark.tensorflow

HEAD = "import numpy as np\nimport tensorflow as tf\nimport keras\n"

HARMLESS = {
    "an infinity that where masks, with a gradient that stays finite": """
x = tf.Variable([0.0, 4.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.where(x > 0.0, tf.sqrt(x), 0.0))
assert np.isfinite(tape.gradient(loss, x)).all()
""",
    "a mask of -inf before a softmax": """
x = tf.Variable([[1.0, 2.0]])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.nn.softmax(x + tf.constant([[0.0, -np.inf]])) ** 2)
assert np.isfinite(tape.gradient(loss, x)).all()
""",
    "nan_to_num": """
x = tf.Variable([1.0, 2.0])
data = tf.constant([np.nan, 1.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(x * keras.ops.nan_to_num(data))
assert np.isfinite(tape.gradient(loss, x)).all()
""",
    "a metric that is NaN beside the loss": """
x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    seen = tf.math.log(x - 5.0)
    loss = tf.reduce_sum(x * x)
assert np.isnan(seen).all() and np.isfinite(tape.gradient(loss, x)).all()
""",
    "an overflow that loss scaling absorbs": """
keras.utils.set_random_seed(0)
half = keras.layers.Dense(3, dtype="mixed_float16")
model = keras.Sequential([keras.layers.Input((4,)), half, keras.layers.Dense(1)])
optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(1e-3), initial_scale=2.0**24)
x = tf.random.normal((8, 4), seed=1)
skipped = 0
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - 1.0))
        scaled = optimizer.scale_loss(loss)
    gradients = tape.gradient(scaled, model.trainable_variables)
    skipped += not all(np.isfinite(g).all() for g in gradients)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
assert skipped == 3 and all(np.isfinite(w).all() for w in model.get_weights())
""",
    "an overflow that loss scaling absorbs in every step of a short fit": """
keras.utils.set_random_seed(0)
half = keras.layers.Dense(3, dtype="mixed_float16")
model = keras.Sequential([keras.layers.Input((4,)), half, keras.layers.Dense(1)])
model.compile(keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(1e-3), initial_scale=2.0**30), "mse")
before = model.get_weights()
model.fit(np.ones((16, 4)), np.ones((16, 1)), batch_size=4, verbose=0)
assert all((old == new).all() for old, new in zip(before, model.get_weights()))
""",
    "a variable that begins at infinity and is not trained": """
best = tf.Variable(np.inf, trainable=False)
w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    loss = tf.square(w)
gradient = tape.gradient(loss, w)
best.assign(tf.minimum(best, loss))
assert np.isfinite(gradient)
""",
    "a direction that is NaN and not applied": """
w = tf.Variable([[0.0, 0.0], [1.0, 2.0]])
optimizer = keras.optimizers.SGD(0.1)
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w)
    gradient = tape.gradient(loss, w)
    direction = gradient / tf.norm(gradient, axis=1, keepdims=True)
    assert np.isnan(direction).any()
    optimizer.apply_gradients([(tf.where(tf.math.is_nan(direction), 0.0, direction), w)])
assert np.isfinite(w).all()
""",
    "a large but finite gradient without a normalisation": """
w = tf.Variable([1e3, 2e3])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.square(w) * tf.sqrt(w)) * 1e6
assert np.isfinite(tape.gradient(loss, w)).all()
""",
}


COMPILED = {
    "a variable of a compiled step that holds infinity on purpose": """
best = tf.Variable(np.inf, trainable=False)
since = tf.Variable(-np.inf, trainable=False)
w = tf.Variable(2.0)
@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.square(w)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    best.assign(tf.minimum(best, loss))
    since.assign(tf.maximum(since, -np.inf))
    return loss
for _ in range(3):
    step()
assert np.isinf(since.numpy())
""",
    "a metric that a compiled step returns": """
w = tf.Variable(2.0)
@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.square(w)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss, tf.math.log(loss - 100.0)
for _ in range(3):
    loss, metric = step()
assert np.isnan(metric.numpy()) and np.isfinite(w.numpy())
""",
    "a metric that a compiled step keeps": """
w = tf.Variable(2.0)
metric = keras.metrics.Mean()
@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.square(w)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    metric.update_state(tf.math.log(loss - 100.0))
    return loss
for _ in range(3):
    step()
assert np.isnan(metric.result()) and np.isfinite(w.numpy())
""",
    "a metric of fit": """
keras.utils.set_random_seed(0)
def odd(y, p):
    return tf.math.log(-tf.square(y - p) - 1.0)
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse", metrics=[odd])
history = model.fit(np.ones((32, 4)), np.ones((32, 1)), batch_size=8, epochs=2, verbose=0)
assert np.isnan(history.history["odd"][0]) and np.isfinite(history.history["loss"][0])
""",
    "an overflow that loss scaling absorbs in fit": """
keras.utils.set_random_seed(0)
half = keras.layers.Dense(3, dtype="mixed_float16")
model = keras.Sequential([keras.layers.Input((4,)), half, keras.layers.Dense(1)])
optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(1e-3), initial_scale=2.0**24)
model.compile(optimizer, "mse")
model.fit(np.ones((32, 4)), np.ones((32, 1)), batch_size=8, epochs=2, verbose=0)
assert float(optimizer.dynamic_scale.numpy()) < 2.0**24 and all(np.isfinite(w).all() for w in model.get_weights())
""",
    "an infinity that where masks in a compiled step": """
x = tf.Variable([0.0, 4.0])
@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.where(x > 0.0, 1.0 / tf.where(x > 0.0, x, 1.0), 0.0) + 0.0 * tf.math.exp(-1.0 / x))
    g = tape.gradient(loss, x)
    g = tf.where(tf.math.is_finite(g), g, 0.0)
    x.assign_sub(0.01 * g)
    return tf.reduce_sum(g)
for _ in range(3):
    step()
assert np.isfinite(x.numpy()).all()
""",
    "nan_to_num in a compiled step": """
x = tf.Variable([1.0, 2.0])
data = tf.constant([np.nan, 1.0])
@tf.function
def step(data):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(x * keras.ops.nan_to_num(data))
    x.assign_sub(0.1 * tape.gradient(loss, x))
    return loss, data
for _ in range(3):
    step(data)
assert np.isfinite(x.numpy()).all()
""",
    "missing values that a layer masks in fit": """
keras.utils.set_random_seed(0)
class Impute(keras.layers.Layer):
    def call(self, x):
        return keras.ops.where(keras.ops.isnan(x), keras.ops.zeros_like(x), x)
x = np.ones((64, 4), "float32")
x[::3, 1] = np.nan
model = keras.Sequential([keras.layers.Input((4,)), Impute(), keras.layers.Dense(1)])
model.compile("sgd", "mse")
history = model.fit(x, np.ones((64, 1)), batch_size=8, epochs=20, verbose=0)
assert np.isfinite(history.history["loss"]).all()
""",
    "an evaluation on broken data": """
keras.utils.set_random_seed(0)
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((32, 4)), np.ones((32, 1)), batch_size=8, verbose=0)
assert np.isnan(model.evaluate(np.full((8, 4), np.nan), np.ones((8, 1)), verbose=0))
""",
}
HARMLESS |= COMPILED


@pytest.mark.parametrize("name", HARMLESS)
def test_nothing_is_said_of(name: str, tf: Any, keras: Any, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(HEAD + HARMLESS[name])
    with watch() as run:
        runpy.run_path(str(script))

    found = [
        each for each in run.report().diagnostics if each.rule != "stack-without-activation"
    ]  # true of two of them
    assert [each.message for each in found] == []


SKIPPING = """
w = tf.Variable([1.0, 2.0])
optimizer = keras.optimizers.SGD(0.1)
for x in ([1.0, 2.0], [np.nan, 1.0], [1.0, 0.0]):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * x)
    gradient = tape.gradient(loss, w)
    if np.isfinite(gradient).all():
        optimizer.apply_gradients([(gradient, w)])
assert np.isfinite(w.numpy()).all()
"""


def test_a_bad_step_that_the_program_skips_is_only_a_note(tf: Any, keras: Any, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(HEAD + SKIPPING)
    with watch() as run:
        runpy.run_path(str(script))

    found = run.report().diagnostics
    assert [(each.rule, each.severity.label) for each in found] == [("nan-data", "note")]
    assert (found[0].steps.seen, found[0].steps.of) == (1, 3)
    assert "these gradients were not applied, and training went on" in found[0].notes


@pytest.mark.parametrize("by_hand", [False, True], ids=["an optimizer", "by hand"])
def test_gradients_that_were_followed_are_let_go_before_the_next_forward_pass(
    by_hand: bool, tf: Any, keras: Any
) -> None:
    weights, optimizer, gone = tf.Variable([1.0, 2.0]), keras.optimizers.SGD(0.1), []

    def step() -> None:
        with tf.GradientTape() as tape:
            assert all(each() is None for each in gone)
            loss = tf.reduce_sum(weights**2)
        gradient = tape.gradient(loss, weights)
        doubled = gradient * 2.0
        gone[:] = [weakref.ref(gradient), weakref.ref(doubled)]
        if by_hand:
            weights.assign_sub(0.1 * doubled)
        else:
            del gradient
            optimizer.apply_gradients([(doubled, weights)])
            assert gone[0]() is None

    with watch():
        for _ in range(3):
            step()
    assert len(gone) == 2
