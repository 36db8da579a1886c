"""Loops written by hand: recorded eagerly and inside `tf.function`, with the same numbers."""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from networks import X, Y, dense, state
from whygrad.graph.series import CHANNELS
from whygrad.store import find_run

pytestmark = pytest.mark.tensorflow


def loop(
    tf: ModuleType, keras: ModuleType, recorder: Any, *, inside: bool, traced: bool = True, steps: int = 6
) -> tuple[Any, list[dict[str, Any]]]:
    """Train by hand; the model, and what each step was by NumPy."""
    model = dense(keras, "adam")
    optimizer = keras.optimizers.SGD(0.1)
    variables = model.trainable_variables
    hand: list[dict[str, Any]] = []

    def step(x: Any, y: Any, number: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = model(x, training=False)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        gradients = tape.gradient(loss, variables)
        clipped, _ = tf.clip_by_global_norm(gradients, 0.1)
        optimizer.apply_gradients(zip(clipped, variables, strict=True))
        if inside and recorder is not None:
            recorder.record(
                gradients=gradients, variables=variables, loss=loss, step=number, learning_rate=0.1, applied=clipped
            )
        return loss, gradients, clipped

    run = tf.function(step) if traced else step
    for number in range(steps):
        x, y = X[number * 4 : number * 4 + 4], Y[number * 4 : number * 4 + 4]
        before = [variable.numpy() for variable in variables]
        loss, gradients, clipped = run(tf.constant(x), tf.constant(y), tf.constant(number * 10, tf.int64))
        if not inside and recorder is not None:
            recorder.record(
                gradients=gradients,
                variables=variables,
                loss=loss,
                step=number * 10,
                learning_rate=optimizer,
                applied=clipped,
            )
        hand.append(
            {
                "loss": float(loss),
                "norm": [np.linalg.norm(g.numpy()) for g in gradients],
                "applied_norm": [np.linalg.norm(g.numpy()) for g in clipped],
                "weight_norm": [np.linalg.norm(v.numpy()) for v in variables],
                "update_norm": [np.linalg.norm(v.numpy() - b) for v, b in zip(variables, before, strict=True)],
            }
        )
    return model, hand


@pytest.mark.parametrize(
    ("inside", "traced"), [(False, True), (True, True), (True, False)], ids=["outside", "in a function", "eager"]
)
def test_numbers_are_those_of_numpy(
    tf: ModuleType, keras: ModuleType, tmp_path: Path, inside: bool, traced: bool
) -> None:
    from whygrad.training.monitor.loop_recorder import LoopRecorder

    with contextlib.closing(LoopRecorder("by hand", folder=tmp_path)) as recorder:
        _, hand = loop(tf, keras, recorder, inside=inside, traced=traced)

    run = find_run("latest", tmp_path)
    assert run.facts()["name"] == "by hand"
    scalars = run.scalars("gradients")
    assert scalars.steps.tolist() == [0, 10, 20, 30, 40, 50]
    np.testing.assert_allclose(scalars.scalars["loss"], [step["loss"] for step in hand], rtol=1e-5)
    np.testing.assert_allclose(scalars.scalars["learning_rate"], 0.1, rtol=1e-6)
    for i, (_, info) in enumerate(run.variables()):
        series = run.series(info.name).channels
        for channel in ("norm", "applied_norm", "weight_norm"):
            np.testing.assert_allclose(series[channel], [step[channel][i] for step in hand], rtol=1e-4, atol=1e-7)
        assert np.isnan(series["update_norm"][0])  # nothing to compare with
        np.testing.assert_allclose(
            series["update_norm"][1:], [step["update_norm"][i] for step in hand[1:]], rtol=1e-3, atol=1e-6
        )


def test_recording_changes_no_bit(tf: ModuleType, keras: ModuleType, tmp_path: Path) -> None:
    from whygrad.training.monitor.loop_recorder import LoopRecorder

    bare, _ = loop(tf, keras, None, inside=False)
    with contextlib.closing(LoopRecorder(folder=tmp_path)) as recorder:
        watched, _ = loop(tf, keras, recorder, inside=True)

    assert state(watched) == state(bare)


def test_more_calls_than_the_ring_holds_are_all_there(tf: ModuleType, tmp_path: Path) -> None:
    from whygrad.training.monitor.loop_recorder import LoopRecorder

    v = tf.Variable([1.0, 2.0], name="v")
    with contextlib.closing(LoopRecorder(folder=tmp_path)) as recorder:
        for step in range(1500):
            recorder.record(gradients=[tf.constant([float(step), 0.0])], variables=[v])

    run = find_run("latest", tmp_path)
    series = run.series("v")
    assert series.steps.tolist() == list(range(1500))
    assert series.channels["norm"].tolist() == list(range(1500))
    assert set(series.channels) == set(CHANNELS)
    assert np.isfinite(run.scalars("gradients").scalars["duration"][1:]).all()


def test_missing_gradients_and_several_tracks(tf: ModuleType, tmp_path: Path) -> None:
    from whygrad.training.monitor.loop_recorder import LoopRecorder

    v, w = tf.Variable([1.0], name="v"), tf.Variable([1.0], name="w")
    with contextlib.closing(LoopRecorder(folder=tmp_path)) as recorder:
        recorder.record(gradients=[tf.ones(1), None], variables=[v, w], track="generator")
        recorder.record(gradients=[tf.ones(1)], variables=[w], track="critic")

    run = find_run("latest", tmp_path)
    assert {track.name: [info.missing for info in track.variables] for track in run.tracks()} == {
        "generator": [False, True],
        "critic": [False],
    }


def test_a_failure_of_ours_is_told_once_and_the_loop_goes_on(
    tf: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from whygrad.errors import UsageError
    from whygrad.training.monitor.loop_recorder import LoopRecorder

    def fail(*_: object) -> None:
        raise RuntimeError("broken on purpose")

    v = tf.Variable([1.0], name="v")
    with contextlib.closing(LoopRecorder(folder=tmp_path)) as recorder:
        monkeypatch.setattr(recorder, "_record", fail)
        for _ in range(3):
            recorder.record(gradients=[tf.constant([1.0])], variables=[v])
        with pytest.raises(UsageError, match="1 gradients do not match 2 variables"):
            recorder.record(gradients=[None], variables=[v, v])
        with pytest.raises(UsageError, match="expected a gradient, got 'no tensor'"):
            recorder.record(gradients=["no tensor"], variables=[v])

    told = capfd.readouterr().err.splitlines()
    assert sum("whygrad: warning" in line for line in told) == 1


def test_run_record_of_a_watched_loop_is_a_run_and_no_finding(tf: Any, tmp_path: Path) -> None:
    import whygrad as wg

    v = tf.Variable([1.0, 2.0], name="v")

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v)
        gradients = tape.gradient(loss, [v])
        v.assign_sub(0.1 * gradients[0])
        return loss, gradients

    with wg.watch(name="by hand", folder=tmp_path) as run:
        for _ in range(3):
            loss, gradients = step()
            run.record(gradients=gradients, variables=[v], loss=loss, learning_rate=0.1)

    recorded = find_run("latest", tmp_path)
    assert recorded.facts()["name"] == "by hand"
    assert recorded.series("v").channels["norm"] == pytest.approx(np.sqrt(5) * 2 * np.array([1, 0.8, 0.64]), rel=1e-6)
    assert run.report().diagnostics == ()
    assert recorded.diagnostics() == ()


def test_run_record_inside_a_compiled_step(tf: Any, tmp_path: Path) -> None:
    import whygrad as wg

    v = tf.Variable(2.0, name="v")
    with wg.watch(folder=tmp_path) as run:

        @tf.function
        def step() -> Any:
            with tf.GradientTape() as tape:
                loss = v * v
            gradient = tape.gradient(loss, v)
            v.assign_sub(0.25 * gradient)
            run.record(gradients=[gradient], variables=[v], loss=loss)
            return loss

        for _ in range(4):
            step()

    assert find_run("latest", tmp_path).series("v").channels["norm"].tolist() == [4, 2, 1, 0.5]
    assert run.report().diagnostics == ()
