"""`accumulate` in `compile` and `fit`: the same weights as the big batch's, with nothing else to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keras_pair import Kit, Make, examples, train, updates_of, weights
from training.accumulation.big_batch import distance

pytestmark = pytest.mark.tensorflow

OPTIMIZERS: dict[str, Make] = {
    "sgd with momentum": lambda kit: kit.keras.optimizers.SGD(0.05, momentum=0.9),
    "adam": lambda kit: kit.keras.optimizers.Adam(0.01),
    "adamw": lambda kit: kit.keras.optimizers.AdamW(0.01, weight_decay=0.1),
    "lion": lambda kit: kit.keras.optimizers.Lion(0.01),
    "loss scale": lambda kit: kit.loss_scaled(kit.keras.optimizers.Adam(0.01)),
    "schedule": lambda kit: kit.keras.optimizers.SGD(
        kit.keras.optimizers.schedules.ExponentialDecay(0.1, decay_steps=1, decay_rate=0.5)
    ),
    "clipnorm": lambda kit: kit.keras.optimizers.SGD(0.5, clipnorm=0.01),
    "global_clipnorm": lambda kit: kit.keras.optimizers.SGD(0.5, global_clipnorm=0.01),
    "clipvalue": lambda kit: kit.keras.optimizers.SGD(0.5, clipvalue=0.001),
    "ema": lambda kit: kit.keras.optimizers.SGD(0.05, use_ema=True, ema_momentum=0.5),
    "ema written back": lambda kit: kit.keras.optimizers.SGD(
        0.05, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=2
    ),
}


def accumulate(optimizer: Any, steps: int, **options: Any) -> Any:
    from whygrad.training.accumulation.accumulate import accumulate

    return accumulate(optimizer, steps, **options)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_whatever_the_optimizer_does_it_does_once_per_update(kit: Kit, name: str) -> None:
    x, y = examples(40)
    make = OPTIMIZERS[name]
    start = weights(kit.model())
    big = train(kit.model(), make(kit), x, y, batch_size=24)

    small = train(kit.model(), accumulate(make(kit), 3), x, y, batch_size=8)

    assert distance(weights(small), weights(big), start) <= 1e-6
    assert updates_of(small.optimizer) == updates_of(big.optimizer) == 4


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(
    count=st.integers(1, 40),
    batch_size=st.integers(1, 9),
    steps=st.integers(1, 5),
    weighted=st.booleans(),
    name=st.sampled_from(["sgd with momentum", "adam", "lion", "loss scale"]),
)
def test_any_number_of_examples_in_micro_batches_of_any_size(
    kit: Kit, count: int, batch_size: int, steps: int, weighted: bool, name: str
) -> None:
    x, y = examples(count, seed=count)
    sample_weight = np.random.default_rng(1).uniform(0.1, 3.0, size=count) if weighted else None
    start = weights(kit.model())
    big = train(kit.model(), OPTIMIZERS[name](kit), x, y, batch_size * steps, sample_weight=sample_weight)

    small = train(kit.model(), accumulate(OPTIMIZERS[name](kit), steps), x, y, batch_size, sample_weight=sample_weight)

    assert distance(weights(small), weights(big), start) <= 1e-6


@pytest.mark.parametrize(
    "compiled",
    [{"jit_compile": True}, {"run_eagerly": True}, {"steps_per_execution": 2}],
    ids=["jit_compile", "run_eagerly", "steps_per_execution"],
)
def test_however_the_step_is_run(kit: Kit, compiled: dict[str, Any]) -> None:
    if "steps_per_execution" in compiled and kit.keras.__version__.startswith("3.3."):
        pytest.skip("five batches, two at a time: Keras 3.3 itself takes a step too many")
    x, y = examples(40)
    start = weights(kit.model())
    big = train(kit.model(), kit.keras.optimizers.Adam(0.01), x, y, batch_size=24)

    small = train(kit.model(), accumulate(kit.keras.optimizers.Adam(0.01), 3), x, y, 8, compiled=compiled)

    assert distance(weights(small), weights(big), start) <= 1e-6


def test_fitting_again_closes_windows_again(kit: Kit) -> None:
    x, y = examples(40)
    start = weights(kit.model())
    big = train(kit.model(), kit.keras.optimizers.Adam(0.01), x, y, batch_size=24)
    big.fit(x, y, batch_size=24, shuffle=False, verbose=0)

    small = train(kit.model(), accumulate(kit.keras.optimizers.Adam(0.01), 3), x, y, batch_size=8)
    history = kit.keras.callbacks.History()
    small.fit(x, y, batch_size=8, shuffle=False, verbose=0, callbacks=[history])

    assert distance(weights(small), weights(big), start) <= 1e-6
    assert small.optimizer.microbatches == 0


def test_fitting_again_with_the_same_callbacks_closes_windows_again(kit: Kit) -> None:
    x, y = examples(40)
    optimizer = accumulate(kit.keras.optimizers.Adam(0.01), 3)
    callbacks = [kit.keras.callbacks.History()]
    small = train(kit.model(), optimizer, x, y, batch_size=8, callbacks=callbacks)

    small.fit(x, y, batch_size=8, shuffle=False, verbose=0, callbacks=callbacks)

    assert int(optimizer.iterations.numpy()) == 6
    assert len(callbacks) == 1  # the user's list is left alone


def test_the_window_is_closed_before_validation_and_before_the_users_callbacks(kit: Kit) -> None:
    x, y = examples(40)
    seen: list[int] = []

    class Watch(kit.keras.callbacks.Callback):  # type: ignore[misc, name-defined]
        def on_test_begin(self, logs: Any = None) -> None:
            seen.append(int(self.model.optimizer.iterations.numpy()))

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            seen.append(int(self.model.optimizer.iterations.numpy()))

    train(
        kit.model(),
        accumulate(kit.keras.optimizers.SGD(0.1), 3),
        x,
        y,
        batch_size=8,
        callbacks=[Watch()],
        validation_data=(x, y),
    )

    assert seen == [2, 2, 4, 4]


def test_a_run_that_is_stopped_in_mid_epoch_still_applies_its_window(kit: Kit) -> None:
    x, y = examples(40)

    class Stop(kit.keras.callbacks.Callback):  # type: ignore[misc, name-defined]
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.model.stop_training = batch == 3

    optimizer = accumulate(kit.keras.optimizers.SGD(0.1), 3)
    train(kit.model(), optimizer, x, y, batch_size=8, callbacks=[Stop()])

    assert optimizer.microbatches == 0
    assert int(optimizer.iterations.numpy()) == 2


def test_a_partial_window_is_carried_if_asked(kit: Kit) -> None:
    x, y = examples(40)
    start = weights(kit.model())
    both = np.concatenate([x, x]), np.concatenate([y, y])
    big = train(kit.model(), kit.keras.optimizers.Adam(0.01), *both, batch_size=24, epochs=1)

    optimizer = accumulate(kit.keras.optimizers.Adam(0.01), 3, partial="carry")
    small = train(kit.model(), optimizer, x, y, batch_size=8, epochs=2)

    assert optimizer.microbatches == 1
    assert int(optimizer.iterations.numpy()) == 3
    assert optimizer.flush()
    assert distance(weights(small), weights(big), start) <= 1e-6
    assert not optimizer.flush()


def test_a_partial_window_is_dropped_if_asked(kit: Kit) -> None:
    x, y = examples(40)
    start = weights(kit.model())
    big = train(kit.model(), kit.keras.optimizers.Adam(0.01), x[:24], y[:24], batch_size=24)

    optimizer = accumulate(kit.keras.optimizers.Adam(0.01), 3, partial="drop")
    small = train(kit.model(), optimizer, x, y, batch_size=8)

    assert distance(weights(small), weights(big), start) <= 1e-6
    assert optimizer.microbatches == 0


def test_train_on_batch_knows_no_epochs_and_keeps_the_window(kit: Kit) -> None:
    x, y = examples(40)
    optimizer = accumulate(kit.keras.optimizers.Adam(0.01), 3)
    model = kit.model()
    model.compile(optimizer, loss="mse", jit_compile=False)

    for _ in range(4):
        model.train_on_batch(x[:8], y[:8])

    assert optimizer.microbatches == 1
    assert int(optimizer.iterations.numpy()) == 1


def test_what_keras_does_itself_is_not_this(keras: Any) -> None:
    """The fact to beat, and proof that `distance` can tell: Keras's own accumulation of 16 + 16 + 8."""
    kit = Kit(keras, old=False)
    x, y = examples(40)
    start = weights(kit.model())
    big = train(kit.model(), keras.optimizers.SGD(0.1), x, y, batch_size=40, epochs=1)

    theirs = train(kit.model(), keras.optimizers.SGD(0.1, gradient_accumulation_steps=3), x, y, 16, epochs=1)
    ours = train(kit.model(), accumulate(keras.optimizers.SGD(0.1), 3), x, y, 16, epochs=1)

    assert distance(weights(theirs), weights(big), start) > 0.01
    assert distance(weights(ours), weights(big), start) < 1e-6


def test_a_train_step_of_ones_own_needs_nothing_more(tf: Any, kit: Kit) -> None:
    class Own(kit.keras.Sequential):  # type: ignore[misc, name-defined]
        def train_step(self, data: Any) -> dict[str, Any]:
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self(x, training=True) - tf.cast(y, tf.float64)) ** 2)
            variables = self.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            return {"loss": loss}

    def own() -> Any:
        kit.keras.utils.set_random_seed(7)
        return Own([kit.keras.Input((3,)), kit.dense(5, activation="tanh"), kit.dense(2)])

    x, y = examples(40)
    start = weights(own())
    big = train(own(), kit.keras.optimizers.Adam(0.01), x, y, batch_size=24)

    small = train(own(), accumulate(kit.keras.optimizers.Adam(0.01), 3), x, y, batch_size=8)

    assert distance(weights(small), weights(big), start) <= 1e-6


def test_learning_rate_can_be_read_and_set_through_it(kit: Kit) -> None:
    optimizer = accumulate(kit.keras.optimizers.SGD(0.5, momentum=0.75), 3)

    optimizer.learning_rate = 0.25

    assert float(optimizer.learning_rate.numpy()) == float(optimizer.inner_optimizer.learning_rate.numpy()) == 0.25
    assert optimizer.momentum == 0.75


def test_callbacks_that_change_the_learning_rate_reach_the_optimizer_inside(kit: Kit) -> None:
    x, y = examples(16)
    optimizer = accumulate(kit.keras.optimizers.SGD(0.5), 2)
    schedule = kit.keras.callbacks.LearningRateScheduler(lambda epoch: 0.5 / (epoch + 1))

    train(kit.model(), optimizer, x, y, batch_size=8, epochs=3, callbacks=[schedule])

    assert float(optimizer.inner_optimizer.learning_rate.numpy()) == pytest.approx(0.5 / 3)


def test_ema_weights_can_be_swapped_in_by_keras_own_callback(keras: Any) -> None:
    kit = Kit(keras, old=False)
    x, y = examples(40)

    def swapped(optimizer: Any, batch_size: int) -> Any:
        swap = keras.callbacks.SwapEMAWeights(swap_on_epoch=True)
        return train(kit.model(), optimizer, x, y, batch_size, callbacks=[swap], validation_data=(x, y))

    def sgd() -> Any:
        return keras.optimizers.SGD(0.05, use_ema=True, ema_momentum=0.5)

    start = weights(kit.model())
    assert distance(weights(swapped(accumulate(sgd(), 3), 8)), weights(swapped(sgd(), 24)), start) <= 1e-6


@pytest.mark.filterwarnings("ignore:.*Gradients do not exist")
def test_a_variable_without_a_gradient_is_left_alone(kit: Kit) -> None:
    class Unused(kit.keras.layers.Layer):  # type: ignore[misc, name-defined]
        def build(self, shape: Any) -> None:
            self.extra = self.add_weight(name="extra", shape=(1,), initializer="ones", dtype="float64")

        def call(self, x: Any) -> Any:
            return x

    def model() -> Any:
        return kit.model(kit.dense(2), Unused(dtype="float64"))

    x, y = examples(40)
    start = weights(model())
    big = train(model(), kit.keras.optimizers.AdamW(0.01, weight_decay=0.5), x, y, batch_size=24)
    small = train(model(), accumulate(kit.keras.optimizers.AdamW(0.01, weight_decay=0.5), 3), x, y, batch_size=8)

    assert distance(weights(small), weights(big), start) <= 1e-6
    assert weights(small)[2] == pytest.approx(1.0)
    assert "extra` had no gradient in 10 of 10 micro-batches" in small.optimizer.notes[0]


def test_two_accumulating_optimizers_in_one_model_each_close_their_window(tf: Any, kit: Kit) -> None:
    class Game(kit.keras.Model):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.left, self.right = kit.dense(2, name="left"), kit.dense(2, name="right")
            self.left.build((None, 3))
            self.right.build((None, 3))

        def call(self, x: Any) -> Any:
            return self.left(x) + self.right(x)

        def train_step(self, data: Any) -> dict[str, Any]:
            x, y = data
            for player, optimizer in ((self.left, self.optimizer), (self.right, self.second)):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((self(x) - y) ** 2)
                variables = player.trainable_variables
                optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            return {"loss": loss}

    model = Game()
    first, second = (accumulate(kit.keras.optimizers.SGD(0.1), 3) for _ in range(2))
    model.second = second
    x, y = examples(40)
    train(model, first, x, y, batch_size=8)

    assert [(o.microbatches, int(o.iterations.numpy())) for o in (first, second)] == [(0, 4), (0, 4)]


@pytest.mark.filterwarnings("ignore:.*Gradients do not exist")
@pytest.mark.parametrize("order", [[True, False], [False, True, True, False]], ids=["seen first", "traced first"])
@pytest.mark.parametrize("compiled", [False, True])
def test_what_a_variable_accumulated_is_not_lost_if_it_has_no_gradient_in_the_last_micro_batch(
    tf: Any, kit: Kit, compiled: bool, order: list[bool]
) -> None:
    """Keras drops it. In a graph, the step without its gradient may have been traced before it ever had one."""
    a, b = tf.Variable([0.0]), tf.Variable([0.0])
    optimizer = accumulate(kit.keras.optimizers.SGD(1.0), 2, weight="equal")
    optimizer.build([a, b])

    def step(branch: bool) -> None:
        optimizer.apply_gradients([(tf.ones([1]), a), (tf.ones([1]) if branch else None, b)])

    step = tf.function(step) if compiled else step
    for branch in order:
        step(branch)

    assert a.numpy()[0] == -len(order) / 2
    assert b.numpy()[0] == -sum(order) / 2


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_legacy_optimizers_of_tf_keras_work_too(tf_keras: Any, name: str) -> None:
    kit = Kit(tf_keras, old=True)

    def legacy() -> Any:
        return getattr(tf_keras.optimizers.legacy, name)(0.01)

    x, y = examples(40)
    start = weights(kit.model())
    big = train(kit.model(), legacy(), x, y, batch_size=24)
    small = train(kit.model(), accumulate(legacy(), 3), x, y, batch_size=8)

    assert distance(weights(small), weights(big), start) <= 1e-6
    assert int(small.optimizer.iterations.numpy()) == 4
