"""`Monitor` around `fit`: what is recorded, restarts, failures; everything put back."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import versions
from networks import X, Y, compiled, dense, train
from whygrad.store import Run, list_runs

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def monitor(tf: ModuleType, tmp_path: Path) -> Any:
    from whygrad.training.monitor.monitor import Monitor

    return Monitor("test", folder=tmp_path)


def recorded(monitor: Any) -> Run:
    assert monitor.run is not None
    return monitor.run  # type: ignore[no-any-return]


def test_the_run_says_what_was_trained(keras: ModuleType, monitor: Any) -> None:
    model = dense(keras, "adam", metrics=["accuracy"])
    train(model, callbacks=[monitor])

    run = recorded(monitor)
    facts = run.facts()
    assert (facts["name"], facts["model"], facts["status"]) == ("test", model.name, "finished")
    assert [info.activation for _, info in run.variables()] == ["relu", "relu", "tanh", "tanh", "linear", "linear"]
    (track,) = run.tracks()
    assert track.name == model.optimizer.name
    scalars = run.scalars(track.name).scalars
    assert scalars["batch"].tolist() == list(range(10))
    history = model.history.history
    epochs = run.events("epoch")
    assert [event.data["loss"] for event in epochs] == pytest.approx(history["loss"])
    assert [event.step for event in epochs] == [4, 9]
    assert scalars["metrics/accuracy"][[4, 9]].tolist() == pytest.approx(history["accuracy"])


def test_several_fits_with_one_monitor_are_one_run(keras: ModuleType, monitor: Any, tmp_path: Path) -> None:
    model = dense(keras, "adam")
    train(model, epochs=1, callbacks=[monitor])
    train(model, epochs=1, callbacks=[monitor])
    compiled(keras, model, "adam")
    train(model, epochs=1, callbacks=[monitor])

    assert len(list_runs(tmp_path)) == 1
    run = recorded(monitor)
    name = run.variables()[0][1].name
    assert sum(len(run.series(name, track.name).steps) for track in run.tracks()) == 15
    assert run.last_step() == 14
    assert run.facts()["status"] == "finished"


def counting(keras: ModuleType, optimizer: Any) -> tuple[Any, list[int]]:
    """A compiled network, and a list that grows by one with each trace of its step."""
    traces: list[int] = []

    def loss(true: Any, predicted: Any) -> Any:
        traces.append(1)
        return keras.ops.sum(keras.ops.square(predicted), -1)

    model = dense(keras, optimizer)
    model.compile(optimizer, loss)
    return model, traces


@pytest.mark.parametrize("around", ["nothing", "guard", "accumulate"])
def test_the_monitored_step_is_traced_once_for_all_fits_until_the_model_is_compiled_again(
    keras: ModuleType, tf: ModuleType, tmp_path: Path, around: str
) -> None:
    import whygrad as wg

    plain = keras.optimizers.Adam(0.01)
    optimizer = {"nothing": plain, "guard": wg.guard(plain), "accumulate": wg.accumulate(plain, 2)}[around]
    model, traces = counting(keras, optimizer)
    monitors = [wg.Monitor(folder=tmp_path) for _ in range(3)]
    train(model, callbacks=[monitors[0]])
    once = len(traces)
    for monitor in monitors[1:]:
        train(model, callbacks=[monitor])
    assert len(traces) == once

    model.compile(keras.optimizers.Adam(0.01), model.loss)
    train(model, callbacks=[monitors[0]])
    assert len(traces) > once
    for monitor, steps in zip(monitors, (20, 10, 10), strict=True):
        run = recorded(monitor)
        name = run.variables()[0][1].name
        assert sum(len(run.series(name, track.name).steps) for track in run.tracks()) == steps


def test_a_monitor_with_a_guard_traces_once_too(keras: ModuleType, tf: ModuleType, tmp_path: Path) -> None:
    import whygrad as wg

    model, traces = counting(keras, keras.optimizers.Adam(0.01))
    monitor = wg.Monitor(folder=tmp_path, guard="skip")
    train(model, callbacks=[monitor])
    once = len(traces)
    train(model, callbacks=[monitor])

    assert len(traces) == once
    assert isinstance(model.optimizer, keras.optimizers.Adam)


def test_a_short_last_batch_is_recorded_like_the_others(keras: ModuleType, monitor: Any) -> None:
    train(dense(keras, "adam", steps_per_execution=4), batch=12, callbacks=[monitor])  # 12, 12, 12, 4

    run = recorded(monitor)
    scalars = run.scalars(run.tracks()[0].name)
    assert scalars.steps.tolist() == list(range(8))
    assert (scalars.scalars["duration"] > 0).all()
    assert (np.diff(scalars.scalars["time"]) > 0).all()


@versions.without_oldest_keras
def test_executions_that_are_cut_short_by_the_epoch_are_counted_right(keras: ModuleType, monitor: Any) -> None:
    train(dense(keras, "adam", steps_per_execution=4), batch=4, epochs=3, callbacks=[monitor])  # 4, 4, 2 batches

    run = recorded(monitor)
    scalars = run.scalars(run.tracks()[0].name).scalars
    assert scalars["batch"].tolist() == list(range(30))
    assert np.isfinite(scalars["duration"]).all()
    assert [event.step for event in run.events("epoch")] == [9, 19, 29]


def test_the_training_function_and_all_hooks_are_put_back(tf: ModuleType, keras: ModuleType, monitor: Any) -> None:
    model = dense(keras, "adam")
    train(model, epochs=1)
    base = next(kind for kind in keras.optimizers.Optimizer.__mro__ if "apply" in vars(kind))
    before = (model.train_function, tf.GradientTape.gradient, base.apply, base._clip_gradients)
    train(model, epochs=1, callbacks=[monitor])

    assert (model.train_function, tf.GradientTape.gradient, base.apply, base._clip_gradients) == before
    assert "train_step" not in vars(model)
    assert all("assign_sub" not in vars(variable.value) for variable in model.trainable_variables)


@pytest.mark.parametrize("flavour", ["keras", "tf_keras"])
def test_a_step_that_raises_leaves_the_steps_before_and_nothing_behind(
    tf: ModuleType, request: pytest.FixtureRequest, monitor: Any, flavour: str
) -> None:
    keras = request.getfixturevalue(flavour)

    def batches() -> Any:
        for step in range(4):
            yield X[:4], Y[:4]
            if step == 2:
                raise RuntimeError("no more data")

    model = dense(keras, "adam")
    data = tf.data.Dataset.from_generator(
        batches, output_signature=(tf.TensorSpec([4, 6]), tf.TensorSpec([4], tf.int64))
    ).prefetch(0)
    gradient = tf.GradientTape.gradient
    with pytest.raises(tf.errors.OpError):
        model.fit(data, verbose=0, shuffle=False, callbacks=[monitor])

    run = recorded(monitor)
    facts = run.facts()
    assert facts["status"] == "failed"
    assert "Error" in facts["failure"]
    assert run.last_step() == 2
    assert tf.GradientTape.gradient is gradient
    assert "train_step" not in vars(model)
    train(model, epochs=1)
    assert run.last_step() == 2


def test_a_fit_that_ends_elsewhere_leaves_the_model_as_it_was(keras: ModuleType, monitor: Any) -> None:
    class Stop(keras.callbacks.Callback):  # type: ignore[misc, name-defined]
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if batch == 2:
                raise KeyboardInterrupt

    model = dense(keras, "adam")
    with pytest.raises(KeyboardInterrupt):
        train(model, callbacks=[monitor, Stop()])
    train(model, epochs=1)  # without a Monitor: finds its own function again

    from whygrad.training.monitor.monitored_function import MonitoredFunction

    assert not isinstance(model.train_function, MonitoredFunction)
    train(model, epochs=1, callbacks=[monitor])
    assert recorded(monitor).facts()["status"] == "finished"


def test_a_failure_of_ours_leaves_the_training_alone(
    keras: ModuleType, monitor: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from whygrad.training.monitor import step_recorder

    def broken(*args: Any) -> None:
        raise ArithmeticError("on purpose")

    monkeypatch.setattr(step_recorder, "application_row", broken)
    model = dense(keras, "adam")
    train(model, callbacks=[monitor])

    told = [line for line in capfd.readouterr().err.splitlines() if line.startswith("whygrad")]
    assert len(told) == 1
    assert "ArithmeticError: on purpose; the run goes on unwatched" in told[0]
    assert len(model.history.history["loss"]) == 2


def test_a_folder_that_cannot_be_written_leaves_the_training_alone(
    tf: ModuleType, keras: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from whygrad.store import run_file
    from whygrad.training.monitor.monitor import Monitor

    (tmp_path / "file").write_text("")
    monkeypatch.setattr(run_file, "spare_folder", lambda: tmp_path / "file")
    monitor = Monitor(folder=tmp_path / "file")
    model = dense(keras, "adam")
    train(model, callbacks=[monitor])

    assert monitor.run is None
    assert len(model.history.history["loss"]) == 2


def test_a_gradient_that_is_none_is_missing(keras: ModuleType, monitor: Any) -> None:
    keras.utils.set_random_seed(3)
    entry = keras.Input((6,))
    idle = keras.layers.Dense(2, name="idle")

    class Net(keras.Model):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.idle, self.used = idle, keras.layers.Dense(3, name="used")
            self.idle.build((None, 6))

        def call(self, x: Any) -> Any:
            return self.used(x)

    model = Net()
    model(entry)
    compiled(keras, model, "adam")
    with pytest.warns(UserWarning, match="Gradients do not exist"):
        train(model, callbacks=[monitor])

    infos = {info.name.split("/")[-2]: info for _, info in recorded(monitor).variables()}
    assert infos["idle"].missing
    assert not infos["used"].missing
    assert np.isnan(recorded(monitor).series(infos["idle"].name).channels["nonfinite"]).all()
    assert np.isfinite(recorded(monitor).series(infos["used"].name).channels["norm"]).all()


def test_rows_are_there_while_the_training_runs(keras: ModuleType, monitor: Any) -> None:
    seen = []

    class Look(keras.callbacks.Callback):  # type: ignore[misc, name-defined]
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            monitor._writer.flush()
            seen.append(recorded(monitor).last_step())

    train(dense(keras, "adam"), epochs=3, callbacks=[monitor, Look()])

    assert seen == [4, 9, 14]


def test_more_steps_than_the_ring_holds_are_all_there(
    keras: ModuleType, monitor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from whygrad.training.monitor import step_recorder

    monkeypatch.setattr(step_recorder, "_LEAST_ROWS", 2)
    monkeypatch.setattr(step_recorder, "_MOST_ROWS", 4)
    train(dense(keras, "adam"), batch=1, epochs=3, callbacks=[monitor])

    run = recorded(monitor)
    assert run.scalars(run.tracks()[0].name).steps.tolist() == list(range(120))


def test_a_step_that_xla_compiles_for_several_replicas_is_refused_in_one_line(
    keras: ModuleType, monitor: Any, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    model = dense(keras, "adam")
    two = SimpleNamespace(num_replicas_in_sync=2)
    stands_in = SimpleNamespace(distribute_strategy=two, optimizer=model.optimizer, jit_compile=True, run_eagerly=False)
    monitor.set_model(stands_in)
    monitor.on_train_begin()
    monitor.on_epoch_end(0, {"loss": 1.0})
    monitor.on_train_end()

    assert capfd.readouterr().err == (
        "whygrad: warning: Monitor cannot record a step that XLA compiles for 2 replicas: "
        "this `fit` goes on without it\n"
    )
    assert list_runs(tmp_path) == []


def test_wrong_schedules_are_refused(tf: ModuleType) -> None:
    from whygrad.errors import UsageError
    from whygrad.training.monitor.monitor import Monitor

    with pytest.raises(UsageError, match="`every` must be a whole number of at least 1, got 0"):
        Monitor(every=0)


def test_it_is_a_keras_callback(keras: ModuleType, monitor: Any) -> None:
    assert isinstance(monitor, keras.callbacks.Callback)
    model = dense(keras, "adam")
    model.evaluate(X, Y, verbose=0, callbacks=[monitor])  # nothing to record, nothing broken
    assert monitor.run is None


def test_the_graph_of_the_step_is_kept(keras: ModuleType, monitor: Any) -> None:
    train(dense(keras, "adam"), epochs=1, callbacks=[monitor])

    graph = recorded(monitor).graph()
    assert graph is not None
    names = [op.name for op in graph.ops]
    assert {"MatMul", "ReadVariableOp", "AssignSubVariableOp"} <= set(names)
    made = {tensor for op in graph.ops for tensor in op.outputs}
    assert all(tensor in made for op in graph.ops for tensor in op.inputs)


def test_dead_units_and_a_zero_learning_rate_are_found(
    tf: ModuleType, keras: ModuleType, monitor: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    keras.utils.set_random_seed(3)
    hidden = keras.layers.Dense(
        16, activation="relu", bias_initializer=keras.initializers.Constant(-100.0), name="hidden"
    )
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8), hidden, keras.layers.Dense(3)])
    compiled(keras, model, keras.optimizers.SGD(0.0))
    train(model, epochs=6, callbacks=[monitor])

    run = recorded(monitor)
    found = {diagnostic.rule: diagnostic for diagnostic in run.diagnostics()}
    assert found.keys() == {"dead-units", "zero-gradient-op", "never-updated"}
    assert found["dead-units"].message == f"16 of the 16 units of `{model.name}/hidden` are likely dead"
    assert "the learning rate is zero" in found["never-updated"].message
    assert f"3 findings in run {run.id}: `whygrad show {run.id}`" in capfd.readouterr().err


def test_healthy_training_has_no_findings(keras: ModuleType, monitor: Any, capfd: pytest.CaptureFixture[str]) -> None:
    train(dense(keras, "adam"), epochs=10, callbacks=[monitor])

    assert recorded(monitor).diagnostics() == ()
    assert capfd.readouterr().err == ""


def test_a_run_that_goes_on_is_diagnosed_anew(keras: ModuleType, monitor: Any) -> None:
    model = dense(keras, keras.optimizers.SGD(0.0))
    train(model, epochs=5, callbacks=[monitor])
    train(model, epochs=5, callbacks=[monitor])

    assert [diagnostic.rule for diagnostic in recorded(monitor).diagnostics()] == ["never-updated"]


def test_what_records_the_step_is_not_in_the_ledger(keras: ModuleType, monitor: Any) -> None:
    import whygrad as wg

    model = dense(keras, "adam")
    with wg.watch() as run:
        train(model, callbacks=[monitor])

    written = {run.ledger.variables[write.variable] for write in run.ledger.writes}
    assert any("kernel" in name for name in written)
    assert not [name for name in written if name.startswith("whygrad/")]
