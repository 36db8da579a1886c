"""Calls that pass without a closer look: nothing of what is said, counted or trained is another."""

from __future__ import annotations

import re
from contextlib import nullcontext
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import versions
from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.capture import running_capture
from whygrad.backends.tensorflow.compat import lean
from whygrad.backends.tensorflow.nonfinite import known_step
from whygrad.backends.tensorflow.nonfinite.known_step import FULLY, FULLY_AT_LEAST, KNOWN_AFTER
from whygrad.watch import watch

pytestmark = pytest.mark.tensorflow

LONG = FULLY_AT_LEAST + 4 * FULLY + 5


def trainer(tf: ModuleType, seed: int = 0) -> tuple[Any, Any]:
    """A compiled step and its variable."""
    w = tf.Variable(tf.random.stateless_normal((6, 1), (seed, 1)), name="w")

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.sqrt(x) @ w - 1.0))
        w.assign_sub(0.05 * tape.gradient(loss, w))
        return loss

    return step, w


def batch(tf: ModuleType, i: int) -> Any:
    return tf.constant(np.random.default_rng(i).uniform(0.5, 1.5, (4, 6)).astype("float32"))


def test_most_calls_pass_and_the_weights_are_those_of_a_bare_run(tf: ModuleType) -> None:
    bare, expected = trainer(tf)
    losses = [float(bare(batch(tf, i))) for i in range(LONG)]
    with watch():
        step, w = trainer(tf)
        found = [float(step(batch(tf, i))) for i in range(LONG)]
        capture = running_capture()
        assert capture is not None
        [known] = capture._known.values()
        assert known.lean is not None

    assert known.history.calls == LONG
    assert found == losses
    assert np.array_equal(w.numpy(), expected.numpy())


def fitted(keras: ModuleType) -> list[Any]:
    """The weights after `fit`, whose step is a function inside of a function."""
    keras.utils.set_random_seed(3)
    x = np.random.default_rng(0).normal(size=(4 * LONG, 6)).astype("float32")
    layers = keras.layers
    model = keras.Sequential([layers.Dense(8, "relu"), layers.Dropout(0.1), layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.01), "mse", jit_compile=False)
    model.fit(x, x[:, :1], batch_size=4, verbose=0)
    return [each.numpy() for each in model.variables]


def names_of_ops(function: Any) -> set[str]:
    """Of a function as the runtime has it, with those that it calls."""
    inner = [names_of_ops(child) for child in function.children]
    return {node.name for node in function.definition.node_def}.union(*inner)


def test_fit_passes_most_steps_without_ops_of_ours_in_any_function(keras: ModuleType) -> None:
    expected = fitted(keras)
    with watch():
        found = fitted(keras)
        capture = running_capture()
        assert capture is not None
        [known] = capture._known.values()

    assert all(map(np.array_equal, found, expected))
    assert any(compat.OWN_SCOPE in name for name in names_of_ops(known.function))
    assert known.lean is not None
    assert not [name for name in names_of_ops(known.lean) if compat.OWN_SCOPE in name]


@pytest.mark.parametrize("seldom", [0.0, 60.0])
def test_steps_and_writes_are_counted_and_every_sixteenth_step_is_measured_or_fewer_of_short_ones(
    tf: ModuleType, monkeypatch: pytest.MonkeyPatch, seldom: float
) -> None:
    monkeypatch.setattr(known_step, "SELDOM", seldom)
    with watch() as run:
        step, _ = trainer(tf)
        for i in range(LONG):
            step(batch(tf, i))
    recording = run.recording()
    [request] = recording.requests
    [write] = [each for each in recording.ledger.writes if each.compiled]

    assert write.count == LONG
    assert request.ran == LONG
    measured = {number for number in request.steps if number > KNOWN_AFTER + FULLY}
    sixteenth = {number for number in range(KNOWN_AFTER + FULLY + 1, LONG) if number % FULLY == 0}
    assert measured < sixteenth if seldom else measured == sixteenth
    assert FULLY_AT_LEAST in measured


def what_goes_wrong(tf: ModuleType) -> str:
    """The message of the first call that fails, after many that did not."""
    table = tf.Variable([1.0, 2.0])

    @tf.function
    def step(rows: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, rows) ** 2)
        table.assign_sub(0.01 * tf.convert_to_tensor(tape.gradient(loss, table)))
        return loss

    for _ in range(LONG):
        step(tf.constant([0]))
    with pytest.raises(tf.errors.InvalidArgumentError) as failed:
        step(tf.constant([7]))
    return re.sub(r"step_\d+", "step", str(failed.value))


def test_a_call_that_fails_says_what_it_says_without_us(tf: ModuleType) -> None:
    said = []
    for around in (nullcontext(), watch()):
        with around:
            said.append(what_goes_wrong(tf))

    assert __file__ in said[0]
    assert said[1] == said[0]


def optional_of(tf: ModuleType, value: Any) -> Any:
    return tf.experimental.Optional.from_value(value)


def test_a_value_taken_the_short_way_is_what_tensorflow_takes(tf: ModuleType) -> None:
    value = {"loss": tf.constant(2.0), "accuracy": tf.constant([3, 4]), "mean": tf.constant(5.0, tf.float64)}
    optional = optional_of(tf, value)
    opening = lean.short_opening(optional)
    assert opening is not None
    found, tensors = opening(optional_of(tf, value))

    assert list(found) == list(optional.get_value()) == list(value)
    assert all(np.array_equal(found[name], value[name]) for name in value)
    assert {id(each) for each in tensors} == {id(each) for each in found.values()}


def test_other_values_are_left_to_tensorflow(tf: ModuleType) -> None:
    ragged = tf.ragged.constant([[1.0], [2.0, 3.0]])

    assert lean.short_opening(optional_of(tf, {"loss": ragged})) is None
    assert lean.short_opening(optional_of(tf, (tf.constant(1.0), tf.constant(2.0)))) is None


def what_fit_is_given(keras: ModuleType, tf: ModuleType) -> list[Any]:
    """All that a training function returns over many steps."""
    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["mae"], jit_compile=False)
    seen, x = [], np.random.default_rng(0).normal(size=(4 * LONG, 6)).astype("float32")
    model.fit(x, x[:, :1], batch_size=4, verbose=0)
    data = iter(tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(4))
    for _ in range(LONG):
        logs = model.train_function(data)
        seen.append([(name, float(value)) for name, value in logs.items()])
    return seen


def test_a_training_function_returns_what_it_returns_without_us(keras: ModuleType, tf: ModuleType) -> None:
    expected = what_fit_is_given(keras, tf)
    with watch():
        found = what_fit_is_given(keras, tf)
        capture = running_capture()
        assert capture is not None
        short = any(known._opens[1] is not None for known in capture._known.values())  # way that was taken
        assert short or versions.is_oldest_keras_3()

    assert found == expected


def known_by_now(tf: ModuleType, calls: int = LONG) -> tuple[Any, Any, Any]:
    """A step that has run for long under the capture of this moment, its variable, and what is known of it."""
    step, w = trainer(tf)
    for i in range(calls):
        step(batch(tf, i))
    capture = running_capture()
    assert capture is not None
    [known] = capture._known.values()
    return step, w, known


def let_pass(known: Any) -> None:
    """The next calls pass, however long all this took."""
    known.left, known.history.next_at = FULLY, float("inf")


def test_a_value_that_is_not_there_is_told_by_tensorflow_itself(tf: ModuleType) -> None:
    with watch():
        _, _, known = known_by_now(tf)
        empty = tf.experimental.Optional.empty({"loss": tf.TensorSpec((), tf.float32)})

        assert known.open(optional_of(tf, {"loss": tf.constant(1.0)})) is not None
        assert known.open(empty) is None


def test_a_call_that_passes_takes_no_arguments_of_ours(tf: ModuleType) -> None:
    bare, _ = trainer(tf)
    wanted = len(bare.get_concrete_function(batch(tf, 0)).inputs)
    with watch():
        _, _, known = known_by_now(tf)
    counted = 1  # how often it ran, which it counts itself

    assert len(known.function.cached_definition.signature.input_arg) > wanted + counted
    assert len(known.lean.cached_definition.signature.input_arg) == wanted + counted


def test_a_step_that_returns_nothing_is_known_as_any_other(tf: ModuleType) -> None:
    w = tf.Variable([1.0, 2.0], name="w")

    @tf.function
    def step(x: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((w * x) ** 2)
        w.assign_sub(0.01 * tape.gradient(loss, w))

    with watch() as run:
        for _ in range(LONG):
            step(tf.constant([1.0, 2.0]))
        capture = running_capture()
        assert capture is not None
        [known] = capture._known.values()
        assert not capture.has_failed()
    [write] = [each for each in run.recording().ledger.writes if each.compiled]

    assert known.history.calls == LONG
    assert write.count == LONG


def test_a_call_that_passes_is_run_with_the_options_of_the_moment(tf: ModuleType) -> None:
    from tensorflow.python.eager import context

    used: list[str] = []

    def execute(name: str, count: int, inputs: Any, attrs: Any, ctx: Any) -> Any:
        used.append(attrs[attrs.index("executor_type") + 1])
        return original(name, count, inputs, attrs, ctx)

    with watch():
        step, _, known = known_by_now(tf, KNOWN_AFTER + 2 * FULLY)
        let_pass(known)
        original, lean.quick_execute = lean.quick_execute, execute
        try:
            step(batch(tf, 0))
            with context.function_executor_type("SINGLE_THREADED_EXECUTOR"):  # changes the options in place
                step(batch(tf, 1))
            step(batch(tf, 2))
        finally:
            lean.quick_execute = original

    assert used == ["", "SINGLE_THREADED_EXECUTOR", ""]


def test_others_who_listen_to_ops_hear_of_every_call(tf: ModuleType) -> None:
    heard: list[str] = []

    def listen(op_type: str, *_: Any, **__: Any) -> None:
        heard.append(op_type)

    with watch():
        step, _ = trainer(tf)
        batches = [batch(tf, i) for i in range(LONG)]
        compat.add_op_callback(listen)
        try:
            for each in batches:
                step(each)
        finally:
            compat.remove_op_callback(listen)

    assert len([name for name in heard if name.startswith("__inference")]) == LONG


def test_a_nan_that_is_born_while_calls_pass_is_laid_at_its_expression(tf: ModuleType) -> None:
    with watch() as run:
        step, _ = trainer(tf)
        for i in range(LONG):
            x = batch(tf, i)
            step(-x if i == KNOWN_AFTER + FULLY + 7 else x)
    [found] = [each for each in run.report().diagnostics if each.severity.name == "ERROR"]

    assert found.rule == "nan-sqrt"


@pytest.mark.parametrize("reads", [False, True])
def test_a_nan_of_a_call_is_laid_there_though_it_is_noted_while_another_function_is_traced(
    tf: ModuleType, reads: bool
) -> None:
    bad = KNOWN_AFTER + FULLY + 7
    with watch() as run:
        step, w, known = known_by_now(tf, bad)
        let_pass(known)
        capture = running_capture()
        assert capture is not None
        capture.hooks.catch_up()
        lost = step(tf.constant(-np.ones((4, 6), "float32")))
        assert not reads or np.isnan(float(lost))
        assert len(capture.hooks.late) == 1 + reads

        @tf.function
        def other(x: Any) -> Any:
            return tf.reduce_sum(x @ w)

        other(batch(tf, 0))
    [found] = [each for each in run.report().diagnostics if each.severity.name == "ERROR"]

    assert found.rule == "nan-sqrt"
    assert known.history.first_bad == bad + 1
    assert known.history.calls == bad + 1


def test_what_is_large_does_not_wait(tf: ModuleType) -> None:
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(x * w)
        w.assign_sub(0.01 * tape.gradient(loss, w))
        return loss, x

    with watch():
        for _ in range(LONG):
            step(tf.ones((5000, 2)))
        capture = running_capture()
        assert capture is not None
        [known] = capture._known.values()

        assert known.history.calls == LONG


def test_a_nan_in_a_batch_of_fit_is_found_in_the_batch_it_came_in(keras: ModuleType, tf: ModuleType) -> None:
    x = np.random.default_rng(0).normal(size=(4 * LONG, 6)).astype("float32")
    y = x[:, :1].copy()
    x[4 * (KNOWN_AFTER + FULLY + 7) + 2, 3] = np.nan
    with watch() as run:
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile(keras.optimizers.SGD(0.01), "mse", jit_compile=False)
        model.fit(x, y, batch_size=4, shuffle=False, verbose=0)
    [found] = [each for each in run.report().diagnostics if each.rule == "nan-data"]

    assert any("row 3, feature 4" in note for note in found.notes), found.notes


def test_an_op_that_takes_the_result_of_a_call_that_passed_knows_who_made_it(tf: ModuleType) -> None:
    with watch():
        step, _ = trainer(tf)
        total = tf.zeros(())
        for i in range(LONG):
            total = total + step(batch(tf, i))
        capture = running_capture()
        assert capture is not None
        made = [each for each in capture.recorder.records if each.type == "__inference"]

    assert made
    assert all(each.calls and not each.tapes for each in made)


def test_a_call_under_a_tape_is_looked_at(tf: ModuleType) -> None:
    with watch() as run:
        step, w = trainer(tf)
        for i in range(KNOWN_AFTER + 3):
            step(batch(tf, i))
        with tf.GradientTape() as tape:
            loss = step(batch(tf, 0)) * tf.reduce_sum(w)
        assert tape.gradient(loss, w) is not None
    assert len(run.recording().requests) == 2


def test_a_step_that_draws_goes_on_with_the_numbers_of_a_bare_run(tf: ModuleType) -> None:
    def losses() -> list[float]:
        tf.random.set_seed(7)
        w = tf.Variable([1.0, 2.0])

        @tf.function
        def noise() -> Any:
            return tf.random.normal((2,), seed=3)

        @tf.function
        def step() -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.square(w + noise()))
            w.assign_sub(0.05 * tape.gradient(loss, w))
            return loss

        return [float(step()) for _ in range(LONG)]

    expected = losses()
    with watch():
        assert losses() == expected


def test_only_ops_that_wait_for_other_devices_meet_others(tf: ModuleType) -> None:
    alone = ("MatMul", "Einsum", "PartitionedCall", "StatefulPartitionedCall", "While", "AssignAddVariableOp")

    assert not any(map(compat.meets_others, alone))
    assert compat.meets_others("CollectiveReduceV2")


@pytest.mark.parametrize("together", [1, 3])
def test_no_iterator_outlives_its_fit(keras: ModuleType, tf: ModuleType, together: int) -> None:
    x = np.ones((6 * LONG, 6), "float32")
    with watch():
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile("sgd", "mse", steps_per_execution=together)
        model.fit(x, x[:, :1], batch_size=6, verbose=0)
        capture = running_capture()
        assert capture is not None
        histories = list(capture.histories.by_graph.values())

        assert [len(history.facts.iterators) for history in histories] == [1]
        calls = [call for history in histories for call in (history.last, *history.recent) if call is not None]
        assert calls
        held = [each for call in calls for each in call.arguments if each.dtype is tf.resource]
        assert all(compat.is_variable_handle(each) for each in held)
