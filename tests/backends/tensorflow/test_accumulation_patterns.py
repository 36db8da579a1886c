"""How gradients are added up, seen in running programs; each mistake next to the same program done right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from whygrad.diagnostics import Severity
from whygrad.watch import watch

pytestmark = pytest.mark.tensorflow


def told(program: Callable[[], object]) -> set[str]:
    with watch() as run:
        program()
        report = run.report()
    return {each.rule for each in report.diagnostics if each.severity >= Severity.WARNING}


def accumulating(tf: Any, keras: Any, *, divide: float, reset: bool, keras_slots: bool) -> None:
    """A `train_step` that adds up in slots and updates in a branch, run by `fit`."""

    class Micro(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.inner = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
            make = keras.Variable if keras_slots else tf.Variable
            self.seen = make(0, trainable=False, dtype="int32")
            self.slots = [make(tf.zeros(v.shape), trainable=False) for v in self.inner.trainable_variables]

        def call(self, x: Any) -> Any:
            return self.inner(x)

        def flush(self) -> None:
            values = [tf.convert_to_tensor(slot) for slot in self.slots]
            self.optimizer.apply_gradients(zip(values, self.inner.trainable_variables, strict=True))
            for slot in self.slots if reset else ():
                slot.assign(tf.zeros(slot.shape))

        def train_step(self, data: Any) -> Any:
            x, y = data
            with tf.GradientTape() as tape:
                loss = self.compute_loss(x, y, self(x, training=True))
            for slot, g in zip(self.slots, tape.gradient(loss, self.inner.trainable_variables), strict=True):
                slot.assign_add(g / divide)
            self.seen.assign_add(1)
            tf.cond(tf.convert_to_tensor(self.seen) % 4 == 0, self.flush, lambda: None)
            return {"loss": loss}

    model = Micro()
    model.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse")
    x = tf.random.normal((64, 3), seed=1)
    model.fit(x, x[:, :1], batch_size=4, verbose=0)


@pytest.mark.parametrize("keras_slots", [True, False])
@pytest.mark.parametrize(
    ("divide", "reset", "rules"),
    [
        (4.0, True, set()),
        (1.0, True, {"accumulation-no-averaging"}),
        (4.0, False, {"accumulation-not-reset"}),
        (16.0, True, {"accumulation-averaged-twice"}),
    ],
)
def test_slots_of_a_compiled_step(
    tf: Any, keras: Any, keras_slots: bool, divide: float, reset: bool, rules: set[str]
) -> None:
    assert told(lambda: accumulating(tf, keras, divide=divide, reset=reset, keras_slots=keras_slots)) == rules


@pytest.mark.parametrize("restored", [0, 500])
@pytest.mark.parametrize(("every", "rules"), [(2, set()), (4, {"accumulation-not-reset"})])
def test_slots_of_a_compiled_step_that_are_set_back_outside_of_it(
    tf: Any, keras: Any, every: int, rules: set[str], restored: int
) -> None:
    """Each second micro-batch is an update; the slot is set back after each `every` of them."""

    def program() -> None:
        w = keras.Variable([1.0, 2.0], name="w")
        slot = keras.Variable([0.0, 0.0], trainable=False)
        turn = tf.Variable(0, trainable=False)
        optimizer = keras.optimizers.SGD(0.1)
        optimizer.build([w])
        if restored:
            optimizer.iterations.assign(restored)

        @tf.function
        def step(x: Any) -> None:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(w - x)) / 2.0
            slot.assign_add(tape.gradient(loss, w))
            turn.assign_add(1)
            tf.cond(turn % 2 == 0, lambda: optimizer.apply([slot.value], [w]), lambda: None)

        for number in range(1, 13):
            step(tf.constant([1.0, 3.0]) + float(number))
            if number % every == 0:
                slot.assign([0.0, 0.0])

    assert told(program) == (rules if not restored else set())


@pytest.mark.parametrize(("divide", "rules"), [(1.0, set()), (4.0, {"accumulation-averaged-twice"})])
@pytest.mark.parametrize("compiled", [True, False])
def test_an_optimizer_that_averages_by_itself(
    tf: Any, keras: Any, compiled: bool, divide: float, rules: set[str]
) -> None:
    def program() -> None:
        w = keras.Variable([1.0, 2.0], name="w")
        optimizer = keras.optimizers.SGD(0.1, gradient_accumulation_steps=4)
        optimizer.build([w])

        def step(x: Any) -> None:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(w - x)) / divide
            optimizer.apply_gradients([(tape.gradient(loss, w), w)])

        run = tf.function(step) if compiled else step
        for number in range(8):
            run(tf.constant([1.0, 3.0]) + number)

    assert told(program) == rules


@pytest.mark.parametrize(("running", "rules"), [(False, set()), (True, {"accumulation-loss-carried-over"})])
def test_a_total_under_one_persistent_tape(tf: Any, running: bool, rules: set[str]) -> None:
    def program() -> None:
        w = tf.Variable([1.0, 2.0], name="w")
        gradient, total = tf.zeros_like(w), tf.constant(0.0)
        with tf.GradientTape(persistent=True) as tape:
            for number in range(3):
                loss = tf.reduce_mean(tf.square(w - float(number)))
                total = total + loss
                with tape.stop_recording():
                    gradient += tape.gradient(total if running else loss, w)
        w.assign_sub(0.1 * gradient / 3.0)

    assert told(program) == rules


@pytest.mark.parametrize("keras_weights", [True, False])
@pytest.mark.parametrize("compiled", [True, False])
def test_weights_moved_along_their_gradient_and_back_are_no_accumulators(
    tf: Any, keras: Any, compiled: bool, keras_weights: bool
) -> None:
    def program() -> None:
        w = (keras.Variable if keras_weights else tf.Variable)([1.0, 2.0], name="w")
        optimizer = keras.optimizers.SGD(0.1)
        optimizer.build([w])

        def gradient(x: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(w - x))
            return tape.gradient(loss, w)

        def step(x: Any) -> None:
            first = gradient(x)
            away = first * (0.05 / tf.norm(first))
            w.assign_add(away)
            second = gradient(x)
            w.assign_sub(away)
            optimizer.apply_gradients([(second, w)])

        run = tf.function(step) if compiled else step
        for number in range(4):
            run(tf.constant([1.0, 3.0]) + number)

    assert told(program) == set()
