"""What `Monitor` records is what a slow training by hand computes: eagerly, batch by batch, statistics by NumPy."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import versions
from networks import X, Y, compiled, train
from whygrad.graph.series import CHANNELS
from whygrad.store import Run

pytestmark = pytest.mark.tensorflow

BATCH = 16


def small(keras: ModuleType, optimizer: Any, width: int = 5, **options: Any) -> Any:
    """Without dropout, so that it can be trained by hand; with a kernel of more than 8192 elements where it is wide."""
    keras.utils.set_random_seed(3)
    layers = [keras.Input((6,)), keras.layers.Dense(width, activation="relu"), keras.layers.Dense(3)]
    return compiled(keras, keras.Sequential(layers), optimizer, **options)


def by_hand(tf: ModuleType, model: Any, steps: int) -> dict[str, np.ndarray]:
    """{variable: [step, channel]} and the loss, from an eager loop on the same batches."""
    names = [variable_name(variable) for variable in model.trainable_variables]
    table = {name: np.zeros((steps, len(CHANNELS))) for name in names}
    table["loss"] = np.zeros(steps)
    for step in range(steps):
        start = step * BATCH % 32
        x, y = X[start : start + BATCH], Y[start : start + BATCH]
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=model(x, training=True))
            )
        gradients = tape.gradient(loss, model.trainable_variables)
        before = [variable.numpy().astype("float64") for variable in model.trainable_variables]
        model.optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        table["loss"][step] = loss
        for name, gradient, old, variable in zip(names, gradients, before, model.trainable_variables, strict=True):
            g, new = gradient.numpy().astype("float64"), variable.numpy().astype("float64")
            table[name][step] = (
                g.sum(),
                np.linalg.norm(g),
                g.min(),
                g.max(),
                np.sum(g == 0),
                0,
                np.linalg.norm(old),
                np.linalg.norm(new - old),
                min(np.linalg.norm(g), 0.3),  # clipped
            )
    return table


def variable_name(variable: Any) -> str:
    return str(getattr(variable, "path", variable.name)).split(":")[0]


@pytest.mark.parametrize(
    ("flavour", "jit", "at_once"),
    [
        ("keras", False, 1),
        pytest.param("keras", False, 3, marks=versions.without_oldest_keras),
        pytest.param("keras", True, 1, marks=pytest.mark.slow),
        pytest.param("keras", True, 3, marks=[pytest.mark.slow, versions.without_oldest_keras]),
        ("tf_keras", False, 1),
        ("tf_keras", False, 2),
        pytest.param("tf_keras", True, 1, marks=pytest.mark.slow),
    ],
)
def test_every_number_is_that_of_training_by_hand(
    tf: ModuleType, request: pytest.FixtureRequest, tmp_path: Path, flavour: str, jit: bool, at_once: int
) -> None:
    from whygrad.training.monitor.monitor import Monitor

    keras = request.getfixturevalue(flavour)
    rate = keras.optimizers.schedules.ExponentialDecay(0.1, 4, 0.5)
    expected = by_hand(tf, small(keras, keras.optimizers.SGD(rate, momentum=0.9, clipnorm=0.3)), 6)
    model = small(
        keras,
        keras.optimizers.SGD(rate, momentum=0.9, clipnorm=0.3),
        jit_compile=jit,
        steps_per_execution=at_once,
    )
    monitor = Monitor(folder=tmp_path, closely_every=1)

    train(model, x=X[:32], y=Y[:32], batch=BATCH, epochs=3, callbacks=[monitor])

    run = monitor.run
    assert run is not None
    (track,) = run.tracks()
    scalars = run.scalars(track.name)
    assert scalars.steps.tolist() == list(range(6))
    np.testing.assert_allclose(scalars.scalars["loss"], expected["loss"], rtol=1e-5)
    np.testing.assert_allclose(scalars.scalars["learning_rate"], 0.1 * 0.5 ** (np.arange(6) / 4), rtol=1e-5)
    assert (scalars.scalars["duration"] > 0).all()
    assert (np.diff(scalars.scalars["time"]) > 0).all()
    for info, variable in zip(track.variables, model.trainable_variables, strict=True):
        assert info.name == variable_name(variable)
        series = run.series(info.name)
        hand = expected[list(expected)[[v.name for v in track.variables].index(info.name)]]
        for c, channel in enumerate(CHANNELS):
            np.testing.assert_allclose(
                series.channels[channel], hand[:, c], rtol=2e-4, atol=2e-6, err_msg=f"{info.name} {channel}"
            )


def test_big_variables_are_looked_at_closely_now_and_then(tf: ModuleType, keras: ModuleType, tmp_path: Path) -> None:
    from whygrad.training.monitor.monitor import Monitor

    model = small(keras, "sgd", width=3000)
    monitor = Monitor(folder=tmp_path, closely_every=4)
    train(model, x=X[:32], y=Y[:32], batch=4, epochs=1, callbacks=[monitor])

    run = monitor.run
    assert run is not None
    kernel = run.series(variable_name(model.trainable_variables[0])).channels  # 18000 elements
    bias = run.series(variable_name(model.trainable_variables[1])).channels  # 3000
    for channel in ("sum", "norm", "nonfinite", "applied_norm"):
        assert np.isfinite(kernel[channel]).all()
    for channel in ("minimum", "maximum", "zeros", "weight_norm", "update_norm"):
        assert np.isfinite(kernel[channel]).tolist() == [step % 4 == 0 for step in range(8)]
        assert np.isfinite(bias[channel]).all()


@pytest.mark.parametrize("jit", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_gradients_that_are_not_finite_are_counted(
    tf: ModuleType, keras: ModuleType, tmp_path: Path, jit: bool
) -> None:
    from whygrad.training.monitor.monitor import Monitor

    x = X[:32].copy()
    x[16, 2] = np.nan
    keras.utils.set_random_seed(3)
    outputs = [keras.layers.Dense(3, name=name) for name in ("left", "right")]
    entry = keras.Input((6,))
    parts = [outputs[0](entry), outputs[1](keras.ops.where(keras.ops.isnan(entry), 0.0, entry))]
    model = keras.Model(entry, parts)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.0), [loss, loss], jit_compile=jit)
    monitor = Monitor(folder=tmp_path)
    train(model, x=x, y=[Y[:32], Y[:32]], batch=BATCH, epochs=1, callbacks=[monitor])

    run = monitor.run
    assert run is not None
    left, right = ([run.series(f"{name}/{part}").channels for part in ("kernel", "bias")] for name in ("left", "right"))
    assert [series["nonfinite"].tolist() for series in left] == [[0, 18], [0, 3]]
    assert [np.isnan(series["norm"]).tolist() for series in left] == [[False, True]] * 2
    assert [series["nonfinite"].tolist() for series in right] == [[0, 0]] * 2
    assert all(np.isfinite(series["norm"]).all() for series in right)


@pytest.mark.parametrize("cancelling", [False, True], ids=["of one sign", "that cancel"])
def test_tiny_gradients_are_not_taken_for_zero(
    tf: ModuleType, keras: ModuleType, tmp_path: Path, cancelling: bool
) -> None:
    from whygrad.training.monitor.monitor import Monitor

    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.0), loss=lambda y, p: tf.reduce_mean(p) * 1e-25, jit_compile=False)
    monitor = Monitor(folder=tmp_path)
    signs = np.array([1, -1 if cancelling else 1] * 3, "float32")
    train(model, x=np.ones((8, 1), "float32") * signs, epochs=1, y=Y[:8], callbacks=[monitor])

    run = monitor.run
    assert run is not None
    kernel = run.series(variable_name(model.trainable_variables[0])).channels
    assert kernel["norm"][0] == pytest.approx(1e-25 * np.sqrt(6), rel=1e-4, abs=0)
    assert kernel["zeros"][0] == 0


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])  # one that makes variables while its step is traced, one not
def test_every_step_is_recorded_and_only_by_the_trace_that_runs(
    keras: ModuleType, tmp_path: Path, optimizer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from whygrad.training.monitor import step_recorder
    from whygrad.training.monitor.monitor import Monitor

    measured, original = [], step_recorder.application_row

    def application_row(*given: Any) -> Any:
        measured.append(given)
        return original(*given)

    monkeypatch.setattr(step_recorder, "application_row", application_row)
    monitor = Monitor(folder=tmp_path)
    small(keras, optimizer).fit(X[:32], Y[:32], batch_size=BATCH, epochs=2, verbose=0, callbacks=[monitor])

    assert monitor.run is not None
    assert monitor.run.scalars(monitor.run.tracks()[0].name).steps.tolist() == [0, 1, 2, 3]
    assert monitor.run.graph() is not None
    assert len(measured) == 1


def test_steps_that_end_while_rows_are_read_keep_their_times(tf: ModuleType) -> None:
    from whygrad.training.monitor.collector import Collector, Executions

    executions = Executions()

    class SlowRing:
        def drain(self, before: int, stride: int) -> tuple[Any, Any]:
            for _ in range(3):
                executions.add(1, 10.0, 0.5)
            return np.zeros(0, np.int64), np.zeros((0, 1))

    recorder: Any = SimpleNamespace(rings={"layout": SlowRing()}, every=1, histograms=None)
    writer: Any = None
    Collector(recorder, executions, writer).drain()

    assert executions.at(np.arange(3))[:, 1].tolist() == [0.5, 0.5, 0.5]


def test_one_step_in_so_many_is_recorded(tf: ModuleType, keras: ModuleType, tmp_path: Path) -> None:
    from whygrad.training.monitor.monitor import Monitor

    runs: list[Run] = []
    for every in (1, 4):
        monitor = Monitor(folder=tmp_path, every=every)
        train(small(keras, "adam"), batch=4, epochs=2, callbacks=[monitor])
        assert monitor.run is not None
        runs.append(monitor.run)

    all_steps, some = (run.series(run.variables()[0][1].name) for run in runs)
    assert all_steps.steps.tolist() == list(range(20))
    assert some.steps.tolist() == list(range(0, 20, 4))
    for channel in CHANNELS:
        np.testing.assert_array_equal(some.channels[channel], all_steps.channels[channel][::4])
    losses = [run.scalars(run.tracks()[0].name).scalars["loss"] for run in runs]
    np.testing.assert_array_equal(losses[1], losses[0][::4])


def test_slices_are_recorded_as_the_gradient_they_stand_for(tf: ModuleType, keras: ModuleType, tmp_path: Path) -> None:
    from whygrad.training.monitor.monitor import Monitor

    def make() -> Any:
        keras.utils.set_random_seed(3)
        layers = [keras.Input((3,), dtype="int32"), keras.layers.Embedding(9, 2), keras.layers.Flatten()]
        model = keras.Sequential([*layers, keras.layers.Dense(3)])
        return compiled(keras, model, keras.optimizers.SGD(0.1))

    x = np.array([[1, 1, 2], [2, 1, 5]], "int32")
    monitor = Monitor(folder=tmp_path)
    train(make(), x=x, y=Y[:2], batch=2, epochs=1, callbacks=[monitor])
    model = make()
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=Y[:2], logits=model(x)))
    slices = tape.gradient(loss, model.trainable_variables)[0]
    dense = tf.convert_to_tensor(slices).numpy()

    assert isinstance(slices, tf.IndexedSlices)
    run = monitor.run
    assert run is not None
    table = run.series(run.variables()[0][1].name).channels
    found = [float(table[channel][0]) for channel in ("sum", "norm", "minimum", "maximum", "zeros", "update_norm")]
    norm = np.linalg.norm(dense)
    assert found == pytest.approx(
        [dense.sum(), norm, dense.min(), dense.max(), np.sum(dense == 0), 0.1 * norm], rel=1e-4, abs=1e-7
    )
