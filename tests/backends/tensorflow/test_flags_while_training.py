"""Flags that are set around and during `fit`: what the compiled training step makes of them."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.tensorflow

FIT = """
base, head = keras.layers.Dense(2, name="base"), keras.layers.Dense(1, name="head")
model = keras.Sequential([keras.layers.Input((2,)), base, head])
base.trainable = not AIM
class Switch(keras.callbacks.Callback):
    def WHEN(self, number, logs=None):
        if number == AT:
            base.trainable = AIM
            MORE
model.compile("sgd", "mse", run_eagerly=EAGERLY)
model.fit(np.ones((8, 2)), np.ones((8, 1)), batch_size=2, epochs=3, verbose=0, callbacks=[Switch()])
"""
AGAIN = """
class Lazy(keras.Model):
    def __init__(self):
        super().__init__()
        self.one, self.two = keras.layers.Dense(2), keras.layers.Dense(1)
        self.scale = self.add_weight(shape=(), initializer="ones")
    def call(self, x):
        return self.two(self.one(x)) * self.scale
model = Lazy()
model.compile("sgd", "mse")
model.fit(np.ones((8, 2)), np.ones((8, 1)), verbose=0)
BETWEEN
model.fit(np.ones((8, 2)), np.ones((8, 1)), epochs=2, verbose=0)
"""


def switched(aim: bool, when: str, at: int, more: str = "pass", eagerly: bool = False) -> str:
    words = {"AIM": str(aim), "WHEN": when, "AT": str(at), "MORE": more, "EAGERLY": str(eagerly)}
    program = FIT
    for word, value in words.items():
        program = program.replace(word, value)
    return program


@pytest.mark.parametrize("aim", [True, False])
@pytest.mark.parametrize("when", ["on_epoch_begin", "on_epoch_end", "on_train_batch_begin"])
def test_a_flag_set_by_a_callback_comes_too_late_for_the_compiled_step(loud: Any, aim: bool, when: str) -> None:
    assert loud(switched(aim, when, 1)) == [("frozen-by-flag", "base.trainable")]


@pytest.mark.parametrize(
    "program",
    [
        switched(False, "on_epoch_begin", 0),
        switched(True, "on_epoch_begin", 0),
        switched(False, "on_epoch_end", 2),
        switched(False, "on_epoch_begin", 1, more="base.trainable = True"),
        switched(False, "on_epoch_begin", 1, more="self.model.make_train_function(force=True)"),
        switched(False, "on_epoch_begin", 1, eagerly=True),
    ],
    ids=["before the first step", "before it, thawing", "after the last", "and back", "and a new step", "no compiling"],
)
def test_a_flag_that_takes_effect_or_is_not_used_is_no_trouble(loud: Any, program: str) -> None:
    assert loud(program) == []


def test_a_model_that_builds_itself_may_be_fitted_again(loud: Any) -> None:
    assert loud(AGAIN.replace("BETWEEN", "")) == []


def test_a_flag_set_between_two_fits_of_a_model_that_builds_itself_is_found(loud: Any) -> None:
    found = loud(AGAIN.replace("BETWEEN", "model.one.trainable = False"))

    assert found == [("frozen-by-flag", "model.one.trainable")]


PHASES = """
base, head = keras.layers.Dense(2, name="base"), keras.layers.Dense(1, name="head")
model = keras.Sequential([keras.layers.Input((2,)), base, head])
def train():
    model.compile("sgd", "mse")
    model.fit(np.ones((8, 2)), np.ones((8, 1)), verbose=0)
train()
base.trainable = False
train()
"""
LOOP = """
base, head = keras.layers.Dense(2, name="base"), keras.layers.Dense(1, name="head")
model = keras.Sequential([keras.layers.Input((2,)), base, head])
optimizer = keras.optimizers.SGD(0.1)
optimizer.build(model.trainable_variables)
def update():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(tf.ones((4, 2))) ** 2)
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
step = tf.function(update)
step()
step()
base.trainable = False
AGAIN
step()
"""


def test_a_layer_frozen_for_a_second_phase_was_no_mistake_in_the_first(loud: Any) -> None:
    assert loud(PHASES) == []


def test_a_compiled_step_of_ones_own_goes_on_training_what_is_frozen_afterwards(loud: Any) -> None:
    assert [rule for rule, _ in loud(LOOP.replace("AGAIN", ""))] == ["frozen-by-flag"]


@pytest.mark.parametrize("again", ["step = tf.function(update)", "step = update"])
def test_a_step_made_anew_leaves_alone_what_is_frozen(loud: Any, again: str) -> None:
    assert loud(LOOP.replace("AGAIN", again)) == []
