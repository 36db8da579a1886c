from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from training.edit.networks import arrays, dense, same
from whygrad.errors import UsageError

pytestmark = pytest.mark.tensorflow


# -- SoftUpdate


def test_a_target_follows_its_source(tf: ModuleType, compiled: Any) -> None:
    source, target = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0])
    update = wg.edit.SoftUpdate([target], [source], rate=0.1)
    step = compiled(update.step)
    for _ in range(5):
        step()

    np.testing.assert_allclose(target, np.array([1.0, 2.0]) * (1 - 0.9**5), rtol=1e-5)


def test_a_copy_is_exact_and_takes_statistics_along(any_keras: ModuleType, network: Any, batch: Any) -> None:
    target = dense(any_keras, "target")
    update = wg.edit.SoftUpdate(target, network, rate=1.0, every=2)
    network.compile("adam", "mse")
    network.fit(*batch, batch_size=4, epochs=1, verbose=0, callbacks=[update])

    assert same(arrays(target.weights), arrays(network.weights))


def test_networks_that_share_a_variable_are_refused(network: Any) -> None:
    with pytest.raises(UsageError, match=r"share `.*kernel`"):
        wg.edit.SoftUpdate(network, network)


def test_networks_that_do_not_match_are_refused(tf: ModuleType) -> None:
    with pytest.raises(UsageError, match="has shape"):
        wg.edit.SoftUpdate([tf.Variable([1.0])], [tf.Variable([1.0, 2.0])])


# -- ClipWeights


def test_elements_stay_within_bounds(tf: ModuleType, compiled: Any) -> None:
    w = tf.Variable([3.0, -3.0, 0.005])
    compiled(wg.edit.ClipWeights([w], 0.01).step)()

    np.testing.assert_array_equal(w, np.float32([0.01, -0.01, 0.005]))


def test_norms_stay_within_bounds(tf: ModuleType) -> None:
    random = np.random.default_rng(0)
    a, b = tf.Variable(random.normal(size=(4, 4))), tf.Variable(random.normal(size=4) * 0.01)
    before = arrays([a, b])
    wg.edit.ClipWeights([a, b], norm=1.0).step()
    np.testing.assert_allclose(a, before[0] / np.linalg.norm(before[0]))
    np.testing.assert_allclose(b, before[1])
    whole = np.sqrt(sum(np.sum(np.square(v)) for v in arrays([a, b])))
    wg.edit.ClipWeights([a, b], global_norm=0.5).step()
    np.testing.assert_allclose(b, before[1] * 0.5 / whole, rtol=1e-6)


def test_clipping_acts_after_each_batch_of_fit(network: Any, batch: Any) -> None:
    network.compile("sgd", "mse")
    network.fit(*batch, verbose=0, callbacks=[wg.edit.ClipWeights(network, 0.02, layers="*kernel")])

    assert np.abs(network.get_layer("first").kernel).max() <= np.float32(0.02)


# -- Schedule, Interpolate


def test_a_schedule_gives_each_update_its_value(tf: ModuleType, compiled: Any) -> None:
    beta, seen = tf.Variable(9.0), tf.Variable(tf.zeros(5))
    schedule = wg.edit.Schedule(beta, lambda step: step**2)

    @compiled
    def step() -> None:
        seen.assign(tf.tensor_scatter_nd_update(seen, [[tf.cast(schedule.steps, tf.int32)]], [beta]))
        schedule.step()

    for _ in range(5):
        step()

    assert list(seen.numpy()) == [0, 1, 4, 9, 16]


def test_a_line_goes_from_start_to_end_and_stays(tf: ModuleType) -> None:
    w = tf.Variable(0.0)
    line = wg.edit.Interpolate(w, 1.0, 0.1, over=3, begin=2)
    seen = [float(w)]
    for _ in range(6):
        line.step()
        seen.append(float(w))

    np.testing.assert_allclose(seen, [1, 1, 1, 0.7, 0.4, 0.1, 0.1], rtol=1e-6)


def test_a_learning_rate_can_be_scheduled_in_fit(network: Any, any_keras: ModuleType, batch: Any) -> None:
    optimizer = any_keras.optimizers.SGD(1.0)
    network.compile(optimizer, "mse")
    schedule = wg.edit.Schedule(optimizer.learning_rate, lambda step: 0.5 / (1.0 + step))
    network.fit(*batch, batch_size=4, verbose=0, callbacks=[schedule])

    np.testing.assert_allclose(optimizer.learning_rate.numpy(), 0.5 / 3, rtol=1e-6)


def test_a_python_number_is_refused() -> None:
    with pytest.raises(UsageError, match="expected a variable, got"):
        wg.edit.Schedule(0.5, lambda step: step)


# -- Reset


def test_weights_and_moments_go_back_together(any_keras: ModuleType, tf: ModuleType, compiled: Any) -> None:
    w = any_keras.Variable([1.0, 2.0], name="w") if hasattr(any_keras, "Variable") else tf.Variable([1.0, 2.0])
    optimizer = any_keras.optimizers.Adam(0.1)
    optimizer.build([w])
    reset = wg.edit.Reset([w], when=lambda step: step == 3, optimizer=optimizer)

    @compiled
    def step() -> None:
        optimizer.apply_gradients([(tf.constant([1.0, -1.0]), w)])
        reset.step()

    def moments() -> list[Any]:
        held = optimizer.variables
        return [v.numpy() for v in held if tuple(v.shape) == (2,)]

    step(), step()
    assert any(np.any(moment) for moment in moments())
    assert list(w.numpy()) != [1.0, 2.0]
    step()
    assert list(w.numpy()) == [1.0, 2.0]
    assert not any(np.any(moment) for moment in moments())
    assert int(reset.resets) == 1
    step()
    assert list(w.numpy()) != [1.0, 2.0]


def test_slots_go_back_to_what_they_begin_with(keras: ModuleType) -> None:
    w = keras.Variable([1.0, 2.0])
    optimizer = keras.optimizers.Adagrad(0.1, initial_accumulator_value=0.25)
    optimizer.apply_gradients([([1.0, 1.0], w)])
    wg.edit.Reset([w], when=1, optimizer=optimizer).step()

    slot = next(v.numpy() for v in optimizer.variables if tuple(v.shape) == (2,))
    assert list(slot) == [0.25, 0.25]


def test_a_reset_may_draw_new_values(tf: ModuleType, compiled: Any) -> None:
    w = tf.Variable(tf.zeros(3))
    step = compiled(wg.edit.Reset([w], every=2, to=lambda v: tf.ones_like(v) * 7.0).step)
    step()
    assert list(w.numpy()) == [0, 0, 0]
    step()
    assert list(w.numpy()) == [7, 7, 7]
