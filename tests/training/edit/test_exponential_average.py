from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import versions
import whygrad as wg
from training.edit.networks import arrays, same
from whygrad.errors import UsageError

pytestmark = pytest.mark.tensorflow


def twin(values: list[float], decay: float, start: float) -> list[float]:
    averages, mean = [], start
    for value in values:
        mean = decay * mean + (1 - decay) * value
        averages.append(mean)
    return averages


def test_follows_the_definition_in_every_kind_of_loop(tf: ModuleType, compiled: Any) -> None:
    w = tf.Variable([1.0, -2.0])
    average = wg.edit.ExponentialAverage([w], decay=0.9)

    @compiled
    def step() -> None:
        w.assign_add([0.5, 1.0])
        average.step()

    for _ in range(20):
        step()

    values = [1.0 + 0.5 * i for i in range(1, 21)]
    np.testing.assert_allclose(average.averages[0][0], twin(values, 0.9, 1.0)[-1], rtol=1e-5)
    assert int(average.steps) == 20


def test_several_steps_at_once_count_as_several(tf: ModuleType) -> None:
    w = tf.Variable(0.0)
    average = wg.edit.ExponentialAverage([w], decay=0.9)
    w.assign(1.0)
    average.step(3)

    np.testing.assert_allclose(average.averages[0], 1 - 0.9**3, rtol=1e-6)


def test_every_acts_on_the_steps_it_names(tf: ModuleType, compiled: Any) -> None:
    w = tf.Variable(0.0)
    average = wg.edit.ExponentialAverage([w], decay=0.5, every=3)

    @compiled
    def step() -> None:
        w.assign_add(1.0)
        average.step()

    seen = []
    for _ in range(7):
        step()
        seen.append(float(average.averages[0]))

    assert seen == [0, 0, 1.5, 1.5, 1.5, 3.75, 3.75]


def test_warmup_follows_faster_at_first(tf: ModuleType) -> None:
    w = tf.Variable(0.0)
    average = wg.edit.ExponentialAverage([w], decay=0.999, warmup=True)
    w.assign(1.0)
    average.step()

    np.testing.assert_allclose(average.averages[0], 1 - 2 / 11, rtol=1e-6)


def test_swapping_twice_restores_every_bit(network: Any, batch: Any) -> None:
    average = wg.edit.ExponentialAverage(network, decay=0.5)
    network.compile("adam", "mse")
    network.fit(*batch, epochs=3, verbose=0, callbacks=[average])
    before, means = arrays(network.trainable_variables), arrays(average.averages)
    assert not same(before, means)

    inside: list[bool] = []
    with pytest.raises(ZeroDivisionError), average.swapped():
        inside.append(same(arrays(network.trainable_variables), means) and 1 // 0 == 0)
    with average.swapped():
        inside.append(same(arrays(network.trainable_variables), means))
    assert inside == [True]

    assert same(arrays(network.trainable_variables), before)
    assert same(arrays(average.averages), means)


def test_validation_inside_fit_sees_the_averages(any_keras: ModuleType, network: Any, batch: Any) -> None:
    average = wg.edit.ExponentialAverage(network, decay=0.9, evaluate=True)
    seen: list[bool] = []

    class Look(any_keras.callbacks.Callback):
        def on_test_batch_begin(self, batch: int, logs: Any = None) -> None:
            seen.append(same(arrays(network.trainable_variables), arrays(average.averages)))

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            seen.append(bool(average.is_swapped))

    network.compile("sgd", "mse")
    network.fit(*batch, validation_data=batch, epochs=2, verbose=0, callbacks=[average, Look()])

    # while swapped, the average's own variables hold the weights
    assert seen == [False, False, False, False]
    assert not bool(average.is_swapped)


def test_fit_steps_are_counted_also_several_in_one_execution(network: Any, batch: Any) -> None:
    if versions.is_oldest_keras_3() and type(network).__module__.startswith("keras."):
        pytest.skip(versions.LOST)
    average = wg.edit.ExponentialAverage(network)
    network.compile("sgd", "mse", steps_per_execution=3)
    network.fit(*batch, batch_size=1, epochs=2, verbose=0, callbacks=[average])

    assert int(average.steps) == 16


def test_a_checkpoint_brings_counter_and_averages_back(tf: ModuleType, tmp_path: Any) -> None:
    w = tf.Variable([1.0, 2.0])
    average = wg.edit.ExponentialAverage([w], decay=0.9)
    w.assign([5.0, 6.0])
    average.step()
    path = tf.train.Checkpoint(average=average).save(str(tmp_path / "c"))

    other = wg.edit.ExponentialAverage([tf.Variable([0.0, 0.0])], decay=0.9)
    tf.train.Checkpoint(average=other).restore(path).assert_consumed()

    assert int(other.steps) == 1
    assert np.array_equal(other.averages[0], average.averages[0])


def test_a_step_while_swapped_is_refused(tf: ModuleType) -> None:
    average = wg.edit.ExponentialAverage([tf.Variable(1.0)])
    with average.swapped(), pytest.raises(UsageError, match="swapped in"):
        average.step()


def test_works_in_replicas(tf: ModuleType, keras: ModuleType) -> None:
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    with strategy.scope():
        w = tf.Variable(0.0, aggregation=tf.VariableAggregation.MEAN)
    average = wg.edit.ExponentialAverage([w], decay=0.5)

    @tf.function
    def step() -> None:
        def replica() -> None:
            w.assign_add(1.0)
            average.step()

        strategy.run(replica)

    step()
    step()

    assert float(average.averages[0].numpy()) == 1.25
    assert int(average.steps.numpy()) == 2


def test_the_average_of_a_variable_is_asked_for_by_the_variable(tf: ModuleType) -> None:
    v, w, other = (tf.Variable([each]) for each in (1.0, 2.0, 3.0))
    average = wg.edit.ExponentialAverage([v, w], decay=0.9)

    assert average.average_of(w).numpy() == [2.0]
    with pytest.raises(UsageError, match="is not averaged"):
        average.average_of(other)
