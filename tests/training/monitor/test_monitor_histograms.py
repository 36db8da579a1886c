"""`Monitor(histograms=...)` records what is in the tensors of the step."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import versions
from networks import X, Y, attending, compiled, dense, train
from store.samples import histogram_of
from whygrad.errors import UsageError
from whygrad.graph.histogram import ZERO, buckets_of
from whygrad.store import Run

pytestmark = pytest.mark.tensorflow


def recorded(model: Any, folder: Path, x: Any = X, **options: Any) -> Run:
    from whygrad.training.monitor.monitor import Monitor

    monitor = Monitor(folder=folder, **options)
    train(model, x=x, callbacks=[monitor])  # ten steps
    assert monitor.run is not None
    return monitor.run


def wide(keras: ModuleType, optimizer: Any, **options: Any) -> Any:
    """Without dropout, so that its first step can be taken by hand."""
    keras.utils.set_random_seed(3)
    layers = [keras.Input((6,)), keras.layers.Dense(200, activation="relu"), keras.layers.Dense(3)]
    return compiled(keras, keras.Sequential(layers), optimizer, **options)


def by_hand(tf: ModuleType, model: Any) -> list[list[np.ndarray]]:
    """[variable][gradient, weight after the update, update] of the first step."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=Y[:8], logits=model(X[:8])))
    gradients = [gradient.numpy() for gradient in tape.gradient(loss, model.trainable_variables)]
    weights = [variable.numpy() for variable in model.trainable_variables]
    return [[g, w - np.float32(0.1) * g, np.float32(-0.1) * g] for g, w in zip(gradients, weights, strict=True)]


@pytest.mark.parametrize(
    ("flavour", "options"),
    [
        ("keras", {}),
        pytest.param("keras", {"steps_per_execution": 3}, marks=versions.without_oldest_keras),
        ("keras", {"run_eagerly": True}),
        ("keras", {"jit_compile": True}),
        ("tf_keras", {}),
    ],
    ids=["graph", "several at once", "eagerly", "XLA", "tf_keras"],
)
def test_they_are_those_of_the_step_by_hand(
    tf: ModuleType, request: pytest.FixtureRequest, tmp_path: Path, flavour: str, options: dict[str, Any]
) -> None:
    keras = request.getfixturevalue(flavour)
    expected = by_hand(tf, wide(keras, "sgd"))

    run = recorded(wide(keras, keras.optimizers.SGD(0.1), **options), tmp_path, histograms=4)

    for (track, info), hand in zip(run.variables(), expected, strict=True):
        found = run.histograms(info.name, track)
        assert found.steps.tolist() == [0, 4, 8]
        for kind in range(3):
            off = np.abs(found.values[0, kind] - histogram_of(hand[kind]))
            few = 0.02 * hand[kind].size + 2  # on another side of an edge
            assert off.sum() <= few, (info.name, kind)


def test_one_recorded_step_in_so_many(keras: ModuleType, tf: ModuleType, tmp_path: Path) -> None:
    run = recorded(dense(keras, "adam"), tmp_path, every=2, histograms=2)

    assert run.histograms(run.variables()[0][1].name).steps.tolist() == [0, 4, 8]


def test_true_is_one_in_a_hundred_and_nothing_is_taken_unless_asked(
    keras: ModuleType, tf: ModuleType, tmp_path: Path
) -> None:
    some, none = recorded(dense(keras, "adam"), tmp_path, histograms=True), recorded(dense(keras, "adam"), tmp_path)

    assert some.histograms(some.variables()[0][1].name).steps.tolist() == [0]
    assert none.histograms(none.variables()[0][1].name).steps.tolist() == []


def test_more_of_them_than_the_ring_holds_are_all_there(
    keras: ModuleType, tf: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from whygrad.training.monitor import step_histograms

    monkeypatch.setattr(step_histograms, "_RING_BYTES", 1)

    run = recorded(dense(keras, "adam"), tmp_path, histograms=1)

    assert run.histograms(run.variables()[0][1].name).steps.tolist() == list(range(10))


def test_a_table_has_the_zeros_of_the_rows_that_were_not_used(
    keras: ModuleType, tf: ModuleType, tmp_path: Path
) -> None:
    words = np.zeros((40, 5), "int32") + np.arange(5, dtype="int32")  # five of twenty rows
    run = recorded(attending(keras, keras.optimizers.SGD(0.1)), tmp_path, words, histograms=5)

    [table] = [each.name for _, each in run.variables() if each.name.endswith("/embeddings")]
    gradient, weight, update = run.histograms(table).values[0]
    assert gradient[ZERO] == update[ZERO] == 15 * 8
    assert sum(count for _, _, count in buckets_of(weight)) == 20 * 8


def test_gradients_of_a_scaled_loss_are_unscaled(keras: ModuleType, tf: ModuleType, tmp_path: Path) -> None:
    scaled = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1), initial_scale=1024.0)
    runs = [
        recorded(wide(keras, optimizer), tmp_path, histograms=100) for optimizer in (keras.optimizers.SGD(0.1), scaled)
    ]

    plain, unscaled = (run.histograms(run.variables()[2][1].name).values[0] for run in runs)
    np.testing.assert_array_equal(plain, unscaled)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "often", None])
def test_wrong_numbers_are_refused(tf: ModuleType, wrong: Any) -> None:
    from whygrad.training.monitor.monitor import Monitor

    with pytest.raises(UsageError, match="`histograms` must be a whole number"):
        Monitor(histograms=wrong)
