"""Updates written by hand: TensorFlow draws their arithmetic together with that of the gradient, watched or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from whygrad.watch import watch

pytestmark = pytest.mark.tensorflow

LOSSES = {
    "mean": lambda tf, x, t: tf.reduce_mean((x - t) ** 2),
    "scaled": lambda tf, x, t: tf.reduce_sum((x - t) ** 2) / 3.0,
    "rows": lambda tf, x, t: tf.reduce_mean((tf.gather(x, [1, 2, 1, 3]) - tf.gather(t, [1, 2, 1, 3])) ** 2),
    "penalty": lambda tf, x, t: 0.5 * tf.reduce_mean(tf.square(x - t)) + 0.01 * tf.reduce_sum(x**2),
    "squashed": lambda tf, x, t: tf.reduce_mean(tf.sigmoid(x * 0.7) * t) / 7.0,
}
UPDATES = {
    "rate": lambda tf, x, m, g: x.assign_sub(0.1 * g),
    "divided": lambda tf, x, m, g: x.assign_sub(g / 7.0),
    "decay": lambda tf, x, m, g: x.assign_sub(0.1 * (g + 0.01 * x)),
    "momentum": lambda tf, x, m, g: x.assign_sub(0.1 * m.assign(0.9 * m + 0.1 * g)),
}


def trained(tf: Any, loss_of: Any, update: Any, *, loop: bool) -> tuple[Any, list[float]]:
    x, m = tf.Variable(np.linspace(-1, 1, 12, dtype=np.float32)), tf.Variable(tf.zeros(12))
    target = tf.constant(3 * np.cos(np.arange(12, dtype=np.float32)))

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(tf, x, target)
        update(tf, x, m, tf.convert_to_tensor(tape.gradient(loss, x)))
        return 3.0 * loss

    def steps() -> Any:
        total = tf.constant(0.0)
        for _ in tf.range(4):
            total += step()
        return total

    run = tf.function(steps if loop else step)
    losses = [float(run()) for _ in range(12)]
    return x.numpy(), losses


@pytest.mark.parametrize("loop", [False, True], ids=["a step", "a loop"])
@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
@pytest.mark.parametrize("loss_of", LOSSES.values(), ids=LOSSES)
@pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices")
def test_the_last_digits_are_the_same_with_and_without_watching(tf: Any, loss_of: Any, update: Any, loop: bool) -> None:
    bare, losses = trained(tf, loss_of, update, loop=loop)
    with watch():
        watched, seen = trained(tf, loss_of, update, loop=loop)

    assert np.array_equal(bare, watched)
    assert losses == seen


def test_only_arithmetic_with_what_the_optimizer_knows_is_computed_apart(tf: Any) -> None:
    """It draws nothing else together, and each reader more of what goes in may keep something apart there."""
    from whygrad.backends.tensorflow import compat

    copied: list[bool] = []

    @tf.function
    def step(x: Any, y: Any) -> Any:
        known = tf.tile(tf.reshape(tf.constant(2.0), [1]), [3])
        for value in (2.0 * x, known * x, x / 3.0, -(x + 1.0), x * y, tf.add_n([2.0 * x, y]), x - y):
            copied.append(compat.computed_apart(value, sums=True) is not value)
        return x

    step(tf.ones(3), tf.ones(3))

    assert copied == [True, True, True, True, False, False, False]
