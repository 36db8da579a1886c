"""A range of learning rates, found by trying them out on what is put back afterwards."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from whygrad.errors import UsageError

pytestmark = pytest.mark.tensorflow


def model_of(keras: ModuleType) -> Any:
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.Adam(0.123), loss="mse")
    return model


X = np.random.default_rng(0).normal(size=(128, 3)).astype("float32")
Y = X[:, :1] * 0.7 + 1.0


def test_range_lies_where_the_loss_falls(keras: ModuleType) -> None:
    found = wg.suggest_learning_rate(model_of(keras), X, Y)

    assert found
    assert 1e-4 < found.lowest < found.suggested < found.highest < 1.0
    assert "lowers the loss" in str(found)


def test_everything_is_put_back(keras: ModuleType) -> None:
    model = model_of(keras)
    before = [value.copy() for value in model.get_weights()]

    wg.suggest_learning_rate(model, X, Y)

    assert all(np.array_equal(a, b) for a, b in zip(before, model.get_weights(), strict=True))
    assert float(model.optimizer.learning_rate.numpy()) == pytest.approx(0.123)
    assert all(not np.any(v.numpy()) for v in model.optimizer.variables if "learning_rate" not in v.path)


def test_function_that_trains_is_tried_and_put_back_where_it_raises(tf: ModuleType, keras: ModuleType) -> None:
    w = tf.Variable([1.0, 2.0])
    optimizer = keras.optimizers.SGD(0.5)

    def step(limit: float) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w**2)
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])
        if optimizer.learning_rate > limit:
            raise ZeroDivisionError
        return loss

    assert wg.suggest_learning_rate(step, 99.0, optimizer=optimizer, variables=[w])
    with pytest.raises(ZeroDivisionError):
        wg.suggest_learning_rate(step, 1e-3, optimizer=optimizer, variables=[w])
    assert w.numpy().tolist() == [1.0, 2.0]
    assert float(optimizer.learning_rate.numpy()) == 0.5


def test_says_so_where_no_rate_lowers_the_loss(tf: ModuleType, keras: ModuleType) -> None:
    w = tf.Variable([1.0])
    optimizer = keras.optimizers.SGD(0.5)
    found = wg.suggest_learning_rate(lambda: tf.constant(3.0), optimizer=optimizer, variables=[w])

    assert not found
    assert found.suggested == 0.0
    assert "no learning rate lowers the loss" in str(found)


def test_schedule_cannot_be_tried(keras: ModuleType) -> None:
    model = model_of(keras)
    schedule = keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)
    model.compile(optimizer=keras.optimizers.SGD(schedule), loss="mse")

    with pytest.raises(UsageError, match="schedule"):
        wg.suggest_learning_rate(model, X, Y)
