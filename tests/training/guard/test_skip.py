"""A guarded run with one poisoned batch ends, bit for bit, where a run that never saw the batch ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import whygrad as wg

pytestmark = pytest.mark.tensorflow

POISONED = 3  # the batch
BATCHES = 6


def batches(*, poisoned: bool) -> list[tuple[Any, Any]]:
    random = np.random.default_rng(0)
    made = [
        (random.normal(size=(8, 4)).astype("float32"), random.normal(size=(8, 1)).astype("float32"))
        for _ in range(BATCHES)
    ]
    if poisoned:
        made[POISONED][0][2, 1] = np.nan
        return made
    return [batch for i, batch in enumerate(made) if i != POISONED]


def make_model(keras: Any, *layers: Any) -> Any:
    keras.utils.set_random_seed(0)
    inside = [make() for make in layers]
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(5), *inside, keras.layers.Dense(1)])
    return model


def trained(
    tf: Any, keras: Any, step: str, layers: Any, *, guarded: bool, poisoned: bool, optimizer: str = "Adam"
) -> list[Any]:
    """All weights, the optimizer's included, after training in one of several styles."""
    model = make_model(keras, *layers)
    inner = getattr(keras.optimizers, optimizer)(0.01)
    used = wg.guard(inner, restore=model) if guarded else inner
    data = batches(poisoned=poisoned)
    if step.startswith("fit"):
        model.compile(used, "mse", jit_compile=step == "fit, jit_compile")
        xs, ys = (np.concatenate(each) for each in zip(*data, strict=True))
        model.fit(xs, ys, batch_size=8, shuffle=False, verbose=0)
    else:
        used.build(model.trainable_variables)

        def one(x: Any, y: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
            gradients = tape.gradient(loss, model.trainable_variables)
            used.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        options = {"jit_compile": True} if step == "function, jit_compile" else {}
        function = one if step == "eager" else tf.function(**options)(one)
        for x, y in data:
            function(tf.constant(x), tf.constant(y))
    if guarded:
        assert [each.step for each in used.bad_steps] == ([POISONED + 1] if poisoned else [])
    return [np.asarray(v) for v in (*model.weights, *inner.variables)]


STEPS = ["eager", "function", "function, jit_compile", "fit", "fit, jit_compile"]


@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
@pytest.mark.parametrize("step", STEPS)
def test_skipping_a_bad_batch_is_never_having_seen_it(step: str, optimizer: str, tf: Any, keras: Any) -> None:
    bare = trained(tf, keras, step, (), guarded=False, poisoned=False, optimizer=optimizer)
    guarded = trained(tf, keras, step, (), guarded=True, poisoned=True, optimizer=optimizer)

    for one, other in zip(bare, guarded, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("step", STEPS)
def test_what_the_forward_pass_wrote_is_put_back(step: str, tf: Any, keras: Any) -> None:
    layers = (keras.layers.BatchNormalization, lambda: keras.layers.Dropout(0.5, seed=1))
    # XLA rounds the statistics of a batch differently in a program that has a guard in it.
    healthy = trained(tf, keras, step, layers, guarded="jit_compile" in step, poisoned=False)
    guarded = trained(tf, keras, step, layers, guarded=True, poisoned=True)

    for one, other in zip(healthy, guarded, strict=True):
        np.testing.assert_array_equal(one, other)
