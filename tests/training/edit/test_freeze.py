from __future__ import annotations

import itertools
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from training.edit.networks import arrays, same
from whygrad.errors import UsageError

pytestmark = pytest.mark.tensorflow


def recorder(any_keras: ModuleType, read: Any) -> Any:
    class Look(any_keras.callbacks.Callback):
        def __init__(self) -> None:
            super().__init__()
            self.seen: list[Any] = []

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.seen.append(read())

    return Look()


def test_a_frozen_layer_stands_still_from_its_step_on(any_keras: ModuleType, network: Any, batch: Any) -> None:
    network.compile(any_keras.optimizers.Adam(0.1), "mse")
    look = recorder(any_keras, lambda: arrays(network.get_layer("first").variables))
    others = recorder(any_keras, lambda: arrays(network.get_layer("last").variables))
    freeze = wg.edit.Freeze(network, "first", at=3)
    network.fit(*batch, batch_size=2, epochs=2, verbose=0, callbacks=[freeze, look, others])

    moved = [not same(a, b) for a, b in itertools.pairwise(look.seen)]
    assert moved == [True, True, False, False, False, False, False]
    assert all(not same(a, b) for a, b in itertools.pairwise(others.seen))


def test_an_unfrozen_layer_trains_from_its_step_on(any_keras: ModuleType, network: Any, batch: Any) -> None:
    network.compile(any_keras.optimizers.Adam(0.1), "mse")
    look = recorder(any_keras, lambda: arrays(network.get_layer("first").variables))
    network.fit(*batch, batch_size=2, epochs=2, verbose=0, callbacks=[wg.edit.Unfreeze(network, "first", at=4), look])

    moved = [not same(a, b) for a, b in itertools.pairwise(look.seen)]
    assert moved == [False, False, False, True, True, True, True]


def test_unfreezing_leaves_the_moments_of_the_others_alone(any_keras: ModuleType, network: Any, batch: Any) -> None:
    """The same as an optimizer that knew all variables from the start and was given a part of them.

    A large epsilon: the bias before a normalisation has a gradient of rounding errors only.
    """
    twin = any_keras.models.clone_model(network)
    twin.set_weights(network.get_weights())
    network.compile(any_keras.optimizers.Adam(0.1, epsilon=0.1), "mse")
    network.fit(*batch, epochs=5, verbose=0, callbacks=[wg.edit.Unfreeze(network, "first", at=3)])

    optimizer = any_keras.optimizers.Adam(0.1, epsilon=0.1)
    optimizer.build(twin.trainable_variables)
    for trainable, epochs in ((False, 3), (True, 2)):
        twin.get_layer("first").trainable = trainable
        twin.compile(optimizer, "mse")
        twin.fit(*batch, epochs=epochs, verbose=0)

    for mine, other in zip(network.weights, twin.weights, strict=True):
        np.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=1e-5, atol=1e-6)


def test_a_loop_of_ones_own_keeps_weights_and_slots(any_keras: ModuleType, tf: ModuleType, compiled: Any) -> None:
    make = any_keras.Variable if hasattr(any_keras, "Variable") else tf.Variable
    a, b = make([1.0, 2.0]), make([3.0, 4.0])
    optimizer = any_keras.optimizers.Adam(0.1)
    optimizer.build([a, b])
    freeze = wg.edit.Freeze([a], at=2, optimizer=optimizer)

    @compiled
    def step() -> None:
        optimizer.apply_gradients([(tf.ones(2), a), (tf.ones(2), b)])
        freeze.step()

    from whygrad.backends.tensorflow import compat

    def state() -> list[Any]:
        return arrays([a, *compat.slots_of(optimizer, a)])

    step(), step()
    before, free = state(), arrays([b])
    assert len(before) == 3
    step(), step()

    assert same(state(), before)
    assert not same(arrays([b]), free)


def test_a_variable_held_until_its_step_begins_with_fresh_slots(
    keras: ModuleType, tf: ModuleType, compiled: Any
) -> None:
    a = keras.Variable([1.0, 2.0])
    optimizer = keras.optimizers.SGD(0.5, momentum=0.9)
    optimizer.build([a])
    unfreeze = wg.edit.Unfreeze([a], at=3, optimizer=optimizer)

    @compiled
    def step() -> None:
        optimizer.apply_gradients([(tf.ones(2), a)])
        unfreeze.step()

    seen = []
    for _ in range(5):
        step()
        seen.append(float(a.numpy()[0]))

    np.testing.assert_allclose(seen, [1, 1, 1, 0.5, -0.45], rtol=1e-6)


def test_a_second_fit_goes_on_where_the_first_ended(any_keras: ModuleType, network: Any, batch: Any) -> None:
    network.compile(any_keras.optimizers.Adam(0.1), "mse")
    freeze = wg.edit.Freeze(network, "first", at=2)
    kernels = []
    for _ in range(4):
        network.fit(*batch, verbose=0, callbacks=[freeze])
        kernels.append(arrays(network.get_layer("first").variables))

    assert [same(a, b) for a, b in itertools.pairwise(kernels)] == [False, True, True]


def test_an_optimizer_built_later_still_begins_with_fresh_slots(keras: ModuleType, tf: ModuleType) -> None:
    a = keras.Variable([1.0, 2.0])
    optimizer = keras.optimizers.SGD(0.5, momentum=0.9)
    unfreeze = wg.edit.Unfreeze([a], at=3, optimizer=optimizer)
    for _ in range(4):
        optimizer.apply_gradients([(tf.ones(2), a)])
        unfreeze.step()

    assert list(a.numpy()) == [0.5, 1.5]


def test_a_pattern_that_fits_nothing_is_refused(network: Any) -> None:
    with pytest.raises(UsageError, match="no layer matches 'decoder'"):
        wg.edit.Freeze(network, "decoder", at=1)
