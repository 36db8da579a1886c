"""Random numbers of a compiled step: its replay draws the same once more where they can be told, else others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from whygrad.backends.tensorflow import compat
from whygrad.watch import Run, watch

pytestmark = pytest.mark.tensorflow

LONG = 600


def the_bad_value(run: Run) -> Any:
    [found] = [each for each in run.report().diagnostics if each.code.startswith("WG4")]
    return found


def until_bad(
    tf: Any, noise: Callable[[], Any], between: Callable[[int], None] = lambda number: None, **how: Any
) -> Any:
    """A step that goes bad in the call in which it draws a number far from the others; and when that was."""
    weight = tf.Variable(tf.zeros(16))

    @tf.function(**how)
    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(tf.math.log(tf.nn.relu(weight + noise() + 2.9)))
        weight.assign_sub(0.0001 * tape.gradient(loss, weight))
        return loss

    for number in range(1, LONG):
        between(number)
        if not np.isfinite(step()):
            return step, number
    pytest.fail("it never draws such a number")


@pytest.mark.parametrize("times", [0, 1, 7])
@pytest.mark.parametrize("name", ["normal", "uniform", "truncated_normal", "int32", "int64"])
def test_an_op_with_a_seed_draws_what_it_drew_in_any_call(tf: Any, name: str, times: int) -> None:
    tf.random.set_seed(3)
    shape = (33, 7)

    @tf.function
    def draw() -> Any:
        if name.startswith("int"):
            return tf.random.uniform(shape, -5, 10_000, name)
        return getattr(tf.random, name)(shape)

    drawn = [draw().numpy() for _ in range(times + 1)]
    [op] = [each for each in draw.get_concrete_function().graph.get_operations() if compat.can_be_drawn_again(each)]
    inputs = [compat.constant_of(each.op) for each in op.inputs]
    [again] = compat.drawn_again(op, inputs, times)

    np.testing.assert_array_equal(again, drawn[-1])


def test_what_a_rare_number_spoils_is_certain_where_the_step_has_a_seed(tf: Any) -> None:
    tf.random.set_seed(1)
    with watch() as run:
        step, number = until_bad(tf, lambda: tf.random.normal((16,)))

    found = the_bad_value(run)
    assert number > 3
    assert (found.rule, found.severity.label) == ("nan-log", "error")
    assert found.primary.span.line == step.python_function.__code__.co_firstlineno + 3


def test_functions_that_are_called_count_with_the_step(tf: Any) -> None:
    tf.random.set_seed(1)
    noise = tf.function(lambda: tf.random.normal((16,), seed=4))
    with watch() as run:
        until_bad(tf, noise)

    assert the_bad_value(run).severity.label == "error"


def test_a_seed_that_is_set_again_begins_the_count_again(tf: Any) -> None:
    tf.random.set_seed(1)

    def between(number: int) -> None:
        if number == 3:
            tf.random.set_seed(1)

    with watch() as run:
        until_bad(tf, lambda: tf.random.normal((16,)), between)

    assert the_bad_value(run).severity.label == "error"


@pytest.mark.parametrize("is_used_outside", [False, True])
def test_a_generator_begins_a_replay_where_it_was(tf: Any, is_used_outside: bool) -> None:
    generator = tf.random.Generator.from_seed(2)
    with watch() as run:
        until_bad(
            tf, lambda: generator.normal((16,)), lambda number: generator.normal((3,)) if is_used_outside else None
        )
        after = generator.state.numpy()

    assert the_bad_value(run).severity.label == "error"
    assert (after == generator.state.numpy()).all()


def test_without_a_seed_other_numbers_are_drawn_until_the_same_trouble_comes(tf: Any) -> None:
    tf.random.set_seed(None)
    with watch() as run:
        until_bad(tf, lambda: tf.random.normal((16,)))

    found = the_bad_value(run)
    assert (found.rule, found.severity.label) == ("nan-log", "warning")
    assert any("with others, this came in" in note for note in found.notes)


@pytest.mark.parametrize("way", ["loop", "xla"])
def test_where_nobody_can_count_it_is_no_error(tf: Any, way: str) -> None:
    tf.random.set_seed(1)

    def noise() -> Any:
        if way == "xla":
            return tf.random.normal((16,))
        return tf.while_loop(lambda i, _: i < 3, lambda i, _: (i + 1, tf.random.normal((16,))), (0, tf.zeros(16)))[1]

    with watch() as run:
        until_bad(tf, noise, jit_compile=way == "xla")

    assert the_bad_value(run).severity.label == "warning"


def test_a_replay_leaves_the_numbers_that_come_next_as_they_are(tf: Any) -> None:
    def drawn() -> list[Any]:
        tf.random.set_seed(1)
        generator = tf.random.Generator.from_seed(2)
        step, _ = until_bad(tf, lambda: tf.random.normal((16,), seed=3) + 0.01 * generator.normal((16,)))
        return [step(), generator.normal((2,)), tf.random.normal((2,), seed=3), tf.random.normal((2,))]

    expected = drawn()
    with watch() as run:
        found = drawn()
        assert the_bad_value(run)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_cannot_be_placed_is_shown_at_the_request_whose_variables_went_bad(tf: Any) -> None:
    fine, spoilt = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0])

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            first = tf.reduce_sum(fine**2)
        fine.assign_sub(0.1 * tape.gradient(first, fine))
        with tf.GradientTape() as tape:
            scales = tf.py_function(lambda: tf.fill((200, 200), float("nan")), [], tf.float32)
            second = tf.reduce_sum(spoilt) * tf.reduce_mean(tf.ensure_shape(scales, (200, 200)))
        spoilt.assign_sub(0.1 * tape.gradient(second, spoilt))
        return first, second

    with watch() as run:
        step()

    found = the_bad_value(run)
    assert found.rule == "nan-unplaced"
    assert found.primary.span.line == step.python_function.__code__.co_firstlineno + 8


@pytest.mark.parametrize("is_same", [True, False])
def test_what_another_look_places_in_the_same_step_is_not_said_twice(tf: Any, is_same: bool) -> None:
    weight = tf.Variable([1.0, 2.0])

    def term(x: Any) -> Any:
        return tf.reduce_sum(tf.math.log(weight * x))

    def other(x: Any) -> Any:
        return tf.reduce_sum(tf.sqrt(weight * x))

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            scales = tf.py_function(lambda: tf.fill((200, 200), 0.0), [], tf.float32)
            loss = term(tf.reduce_mean(tf.ensure_shape(scales, (200, 200))))
        tape.gradient(loss, weight)
        return loss

    with watch() as run:
        step()
        with tf.GradientTape() as tape:
            loss = (term if is_same else other)(tf.constant(0.0))
        tape.gradient(loss, weight)

    rules = [each.rule for each in run.report().diagnostics if each.code.startswith("WG4")]
    assert ("nan-unplaced" in rules) == (not is_same)


def test_silent_when_what_is_bad_at_times_is_only_shown(tf: Any) -> None:
    tf.random.set_seed(None)
    weight, calls = tf.Variable([1.0, 2.0]), tf.Variable(0)

    @tf.function
    def step() -> Any:
        noise = tf.random.normal((2,))
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((weight + 0.01 * noise) ** 2)
        weight.assign_sub(0.01 * tape.gradient(loss, weight))
        shown = tf.reduce_mean(tf.boolean_mask(noise, noise > tf.where(calls.assign_add(1) == 9, 99.0, -99.0)))
        return loss, shown

    with watch() as run:
        shown = [step()[1] for _ in range(20)]

    assert sum(np.isnan(shown)) == 1
    assert not [each for each in run.report().diagnostics if each.code.startswith("WG4")]


def test_a_rare_share_of_nothing_is_no_loss(tf: Any) -> None:
    """No run with other numbers shows it again."""
    tf.random.set_seed(None)
    weight = tf.Variable([1.0, 2.0])

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((weight + 0.01 * tf.random.normal((2,))) ** 2)
        weight.assign_sub(0.01 * tape.gradient(loss, weight))
        return loss, 0.0 * tf.math.log(tf.nn.relu(tf.random.normal(()) + 3.4))

    with watch() as run:
        shown = next((each for each in (step()[1] for _ in range(50_000)) if np.isnan(each)), None)

    assert shown is not None
    assert not [each for each in run.report().diagnostics if each.code.startswith("WG4")]
