"""Small variables that other code writes between the calls of a compiled step: its replay has them as they were."""

from __future__ import annotations

from typing import Any

import pytest

from whygrad.watch import Run, watch

pytestmark = pytest.mark.tensorflow


def the_bad_value(run: Run) -> Any:
    [found] = [each for each in run.report().diagnostics if each.code.startswith("WG4")]
    assert found.primary is not None
    assert found.certain
    return found


@pytest.mark.parametrize("bad_at", [3, 90])
def test_a_factor_that_goes_to_zero_between_two_calls_is_placed(tf: Any, bad_at: int) -> None:
    weight = tf.Variable([1.0, 2.0])
    width = tf.Variable(1.0, trainable=False)

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(weight**2) / width
        weight.assign_sub(0.01 * tape.gradient(loss, weight))
        return loss

    with watch() as run:
        for number in range(100):
            width.assign(float(number < bad_at))
            step()

    found = the_bad_value(run)
    assert found.rule == "nan-division"
    assert found.primary.span.line == step.python_function.__code__.co_firstlineno + 3


@pytest.mark.parametrize("in_fit", [True, False])
def test_a_rate_that_is_not_finite_is_shown_where_it_was_written(tf: Any, keras: Any, in_fit: bool) -> None:
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    optimizer = keras.optimizers.SGD(0.01)
    data = tf.ones((8, 2))

    def written(epoch: int) -> None:
        optimizer.learning_rate.assign(0.01 if epoch < 2 else float("inf"))

    with watch() as run:
        if in_fit:
            model.compile(optimizer, "mse")
            model.fit(
                data,
                data[:, :1],
                batch_size=4,
                epochs=4,
                verbose=0,
                callbacks=[keras.callbacks.LambdaCallback(on_epoch_begin=lambda epoch, _: written(epoch))],
            )
        else:
            for epoch in range(4):
                written(epoch)
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((model(data) - data[:, :1]) ** 2)
                optimizer.apply_gradients(
                    zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
                )

    found = the_bad_value(run)
    assert found.rule == "nan-weights"
    assert found.primary.span.line == written.__code__.co_firstlineno + 1
    assert found.variables == (f"{optimizer.name}/learning_rate",)


def test_no_more_steps_are_counted_as_bad_than_there_were(tf: Any, keras: Any) -> None:
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.01), lambda truth, given: tf.math.log(tf.nn.relu(given - 1e6)) * truth)
    data = tf.ones((8, 2))

    with watch() as run:
        model.fit(data, data[:, :1], batch_size=4, epochs=3, verbose=0)
        model.evaluate(data, data[:, :1], verbose=0)

    steps = the_bad_value(run).steps
    assert (steps.seen, steps.of) == (6, 6)
