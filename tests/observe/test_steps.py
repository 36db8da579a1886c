"""Steps that are computed and not used, rows that are overwritten, names that hold variables."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from observe.stream import Function, Stream, at, fact
from whygrad.graph import Action, OpKind
from whygrad.graph.event import VariableStep
from whygrad.observe.bound_names import BoundNames

W, B = 101, 102


@pytest.mark.parametrize("used", [True, False])
@pytest.mark.parametrize("traced", [True, False])
def test_a_step_along_the_gradient_may_be_of_no_use(used: bool, traced: bool) -> None:
    s = Stream()
    s.function = Function(1, s) if traced else None
    for _ in range(2):
        step = s.op(Action.MULTIPLY, s.gradient(W), s.constant(0.1))
        result = s.op(Action.SUBTRACT, s.read(W), step, place=at(4))
        if used:
            s.op(OpKind.SMOOTH, result)

    expected = VariableStep(variable=W, where=at(4), seen=2, unused=True, compiled=traced)  # type: ignore[arg-type]
    assert list(s.folds.steps.events()) == ([] if used else [expected])


def test_a_value_that_leaves_the_framework_is_used() -> None:
    s = Stream()
    s.folds.steps.use([s.op(Action.SUBTRACT, s.read(W), s.gradient(W))])

    assert list(s.folds.steps.events()) == []


def test_a_variable_and_the_gradient_of_another_make_no_step() -> None:
    s = Stream()
    s.op(Action.SUBTRACT, s.read(B), s.gradient(W))
    s.op(Action.SUBTRACT, s.tensor(), s.gradient(W))

    assert list(s.folds.steps.events()) == []


def test_repeated_rows_are_counted_where_a_step_of_the_variable_itself_overwrites_them() -> None:
    s = Stream()
    own, other, rows = s.label(s.gradient(W)), s.label(s.gradient(B)), s.folds.rows
    for indices in ([[3], [3], [1]], [[0], [1], [2]]):
        rows.note(W, at(5), np.array(indices), np.array([[1.0, 2.0], [1.0, 2.5], [0.0, 0.0]]), own)

    [step] = rows.events()
    assert (step.where, step.seen, step.with_repeats, step.rows, step.repeated) == (at(5), 2, 1, 2, 1)
    assert (rows.takes(W, own), rows.takes(W, other), rows.takes(W, None)) == (True, False, False)


@pytest.mark.parametrize("slices", [0, 7])
def test_repeated_rows_with_the_same_values_may_be_sums_unless_they_are_the_gradient_as_it_came(slices: int) -> None:
    s = Stream()
    label = replace(s.label(s.gradient(W)), rows=slices)
    s.folds.rows.note(W, at(5), np.array([[3], [3], [1]]), np.array([[1.0], [1.0], [2.0]]), label)

    [step] = s.folds.rows.events()
    assert step.repeated == (1 if slices else 0)


def test_rows_that_differ_by_rounding_are_the_same() -> None:
    s = Stream()
    written = np.array([[1.0], [1.0 + 2e-7], [2.0]], np.float32)
    s.folds.rows.note(W, at(5), np.array([[3], [3], [1]]), written, s.label(s.gradient(W)))
    s.folds.rows.note(W, at(6), np.zeros((0, 1), np.int64), np.zeros((0, 1)), s.label(s.gradient(W)))

    assert [step.repeated for step in s.folds.rows.events()] == [0, 0]


class Program:
    """Ops that run in real frames; variables are numbers."""

    def __init__(self) -> None:
        self.names = BoundNames(lambda value: value if isinstance(value, int) else None)

    def op(self, *operands: Any, kind: OpKind = OpKind.ELEMENTWISE) -> str:
        self.names.look(fact(kind), sys._getframe(1))
        return "tensor"

    def found(self) -> list[tuple[int, str | None, int]]:
        return [(step.variable, step.bound_to, step.seen) for step in self.names.events()]


def rebinds_loop_name(p: Program) -> None:
    for v in (W, B):
        v = p.op(v)


def rebinds_parameter(p: Program, v: Any = W) -> None:
    v = p.op(v)


def closes_over(p: Program) -> None:
    v: Any = W

    def inner() -> None:
        nonlocal v
        v = p.op(v)

    inner()


def reads_it_again(p: Program) -> None:
    for v in (W, B):
        v = p.op(v)
        repr(v)


def binds_a_new_name(p: Program) -> None:
    for v in (W, B):
        result = p.op(v)
    del result


def writes(p: Program) -> None:
    for v in (W, B):
        v = p.op(v, kind=OpKind.WRITE)


def holds_a_tensor(p: Program) -> None:
    for v in ("tensor", "tensor"):
        v = p.op(v)


@pytest.mark.parametrize(
    ("program", "found"),
    [
        (rebinds_loop_name, [(W, "v", 1), (B, "v", 1)]),
        (rebinds_parameter, [(W, "v", 1)]),
        (closes_over, [(W, "v", 1)]),
        (reads_it_again, []),
        (binds_a_new_name, []),
        (writes, []),
        (holds_a_tensor, []),
    ],
)
def test_a_name_that_holds_a_variable_is_bound_to_a_value(
    program: Callable[[Program], None], found: list[tuple[int, str, int]]
) -> None:
    p = Program()
    program(p)

    assert p.found() == found


def test_a_name_that_never_held_a_variable_is_not_looked_at_for_ever() -> None:
    p = Program()
    for turn in range(40):
        rebinds_parameter(p, "tensor" if turn < 39 else W)

    assert p.found() == []
