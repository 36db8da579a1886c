"""The log of ops stays small however long a program runs, and never drops what an open tape may need."""

from __future__ import annotations

from typing import Any

import pytest

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log import recorder as module
from whygrad.watch import Run, watch

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> int:
    """How many ops are kept; few, so that a test reaches the limit."""
    monkeypatch.setattr(module, "KEPT_OPS", 200)
    return 200


def log_of(run: Run) -> Any:
    return run._watcher.backends["tensorflow"].recorder  # type: ignore[attr-defined]


def test_ops_outside_of_any_tape_do_not_pile_up(tf: Any, kept: int) -> None:
    with watch() as run:
        value = tf.ones((2,))
        for _ in range(10 * kept):
            value = tf.tanh(value)
        log = log_of(run)
        assert len(log.records) <= 2 * kept + 1
        assert len(log.producers) <= 4 * kept
        assert len(log.leaves) <= 2 * kept


def sizes_of_the_log(tf: Any, steps: int) -> list[int]:
    """How many ops are remembered after each step of a training loop."""
    sizes = []
    with watch() as run:
        weight = tf.Variable(tf.ones((2,)))
        for _ in range(steps):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.tanh(weight) ** 2)
            weight.assign_sub(0.1 * tape.gradient(loss, weight))
            sizes.append(len(log_of(run).records))
    return sizes


def test_steps_of_a_training_loop_do_not_pile_up(tf: Any) -> None:
    full = module.KEPT_STEPS + 1
    sizes = sizes_of_the_log(tf, 2 * full)

    assert max(sizes) == max(sizes[: full + 1])


def test_of_large_steps_only_the_last_two_are_remembered(tf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT_OPS", 10)  # less than one step
    sizes = sizes_of_the_log(tf, 20)

    assert max(sizes[5:]) == sizes[5]


def test_an_open_tape_keeps_its_ops_however_many(tf: Any, kept: int) -> None:
    with watch() as run:
        weight = tf.Variable(tf.ones((2,)))
        with tf.GradientTape() as tape:
            value = weight * 2.0
            for _ in range(5 * kept):
                value = tf.tanh(value)
            loss = tf.reduce_sum(tf.round(value))
        assert tape.gradient(loss, weight) is None

    assert [each.rule for each in run.report().diagnostics] == ["non-differentiable-op"]
    graph = run.recording().requests[0].graph
    assert sum(op.name == "Tanh" for op in graph.ops) == 5 * kept


def test_tracing_many_variables_lists_the_captures_of_a_function_no_more_often_than_few(
    tf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TensorFlow makes the list anew after each capture: to ask for it at each op takes time by the square."""
    from tensorflow.core.function.capture.capture_container import FunctionCaptures

    make, made = FunctionCaptures._recompute_cached_properties, []
    monkeypatch.setattr(FunctionCaptures, "_recompute_cached_properties", lambda held: (made.append(1), make(held)))

    def lists(count: int) -> int:
        variables = [tf.Variable(1.0) for _ in range(count)]

        @tf.function
        def step() -> Any:
            with tf.GradientTape() as tape:
                loss = tf.add_n([tf.square(variable) for variable in variables])
            gradients = tape.gradient(loss, variables)
            for variable, gradient in zip(variables, gradients, strict=True):
                variable.assign_sub(0.1 * gradient)
            return loss

        made.clear()
        with watch() as run:
            step()
            run.report()
        return len(made)

    assert lists(40) <= lists(4) + 4


def test_the_values_of_a_gradient_are_those_of_its_slices_or_itself(tf: Any) -> None:
    dense, variable = tf.ones((2,)), tf.Variable(1.0)
    slices = tf.IndexedSlices(tf.ones((1, 2)), tf.constant([3]))

    assert [compat.values_in(each) for each in (slices, None)] == [slices.values, None]
    assert compat.values_in(dense) is dense
    assert compat.values_in(variable) is variable
