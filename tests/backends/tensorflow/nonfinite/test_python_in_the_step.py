"""A compiled step that runs Python functions: the replay takes what they gave, and never runs them again."""

from __future__ import annotations

from typing import Any

import pytest

from whygrad.watch import watch

pytestmark = pytest.mark.tensorflow


@pytest.mark.parametrize("wrapped", ["py_function", "numpy_function"])
@pytest.mark.parametrize("bad_at", [0, 5])
def test_the_line_is_found_and_the_function_runs_once_a_step(tf: Any, wrapped: str, bad_at: int) -> None:
    asked: list[float] = []

    def share(values: Any) -> Any:
        asked.append(float(values[0]))
        return values[0] if wrapped == "py_function" else values.dtype.type(values[0])

    weight = tf.Variable([1.0, 2.0])

    @tf.function
    def step(data: Any) -> Any:
        with tf.GradientTape() as tape:
            part = getattr(tf, wrapped)(share, [data], tf.float32)
            part.set_shape(())
            loss = tf.reduce_sum(weight**2) / part
        weight.assign_sub(0.01 * tape.gradient(loss, weight))
        return loss

    with watch() as run:
        for number in range(8):
            step(tf.constant([0.0 if number == bad_at else 1.0, 2.0]))

    [found] = [each for each in run.report().diagnostics if each.code.startswith("WG4")]
    assert (found.rule, found.certain) == ("nan-division", True)
    assert found.primary is not None
    assert found.primary.span.line == step.python_function.__code__.co_firstlineno + 5
    assert asked == [0.0 if number == bad_at else 1.0 for number in range(8)]


def test_what_the_function_made_bad_itself_is_said_of_it(tf: Any) -> None:
    weight = tf.Variable([1.0, 2.0])

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            scale = tf.numpy_function(lambda: tf.float32.as_numpy_dtype("nan"), [], tf.float32)
            scale.set_shape(())
            loss = tf.reduce_sum(weight**2) * scale
        weight.assign_sub(0.01 * tape.gradient(loss, weight))
        return loss

    with watch() as run:
        step()

    [found] = [each for each in run.report().diagnostics if each.code.startswith("WG4")]
    assert found.primary is not None
    assert found.primary.span.line == step.python_function.__code__.co_firstlineno + 3


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(("name", "rule"), [("log", "nan-log"), ("sqrt", "nan-sqrt")])
def test_an_op_inside_the_function_that_makes_it_bad_is_shown(tf: Any, name: str, rule: str, traced: bool) -> None:
    weight = tf.Variable([1.0, 0.0])
    calls: list[int] = []

    def inside(values: Any) -> Any:
        calls.append(1)
        doubled = values * 2.0
        return tf.reduce_sum(getattr(tf.math, name)(doubled))

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.py_function(inside, [weight * 1.0], tf.float32)
        return tape.gradient(loss, weight)

    run_step = tf.function(step) if traced else step
    with watch() as run:
        run_step()

    [found] = run.report().diagnostics
    assert (found.rule, found.certain) == (rule, True)
    assert found.primary is not None
    assert found.primary.span.line == inside.__code__.co_firstlineno + 3
    assert len(calls) == 1


def test_nothing_is_said_of_a_function_whose_gradient_is_finite(tf: Any) -> None:
    weight = tf.Variable([1.0, 2.0])
    with watch() as run, tf.GradientTape() as tape:
        loss = tf.py_function(lambda values: tf.reduce_sum(tf.sqrt(values)), [weight * 1.0], tf.float32)
        tape.gradient(loss, weight)

    assert run.report().diagnostics == ()


def test_a_function_that_is_traced_inside_of_it_gives_what_it_gives_unwatched(tf: Any) -> None:
    weight = tf.Variable([1.0, 2.0])

    @tf.function
    def inner(values: Any) -> Any:
        return tf.reduce_sum(values**2)

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.py_function(inner, [weight * 1.0], tf.float32)
        return tape.gradient(loss, weight).numpy().tolist()

    with watch() as run:
        watched = [step(), step()]

    assert watched == [step(), step()]
    assert run.report().diagnostics == ()
