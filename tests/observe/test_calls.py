"""Gradients that compiled functions return, are given, capture, or make in a branch."""

from __future__ import annotations

import pytest

from observe.stream import Function, Stream, at
from whygrad.graph import Action, OpKind
from whygrad.observe.fact import Call
from whygrad.observe.label import Label

W, B = 101, 102


def called(s: Stream, function: Function, *arguments: int, outputs: int = 1) -> list[Label | None]:
    s.function = None
    given = tuple(s.tensor() for _ in range(outputs))
    s.folds.labels.called(Call((function,), arguments), given, given[0])
    return [s.folds.labels.of(number) for number in given]


def test_a_function_returns_the_gradient_that_it_took() -> None:
    s = Stream()
    step = s.function = Function(1, s)
    step.outputs = [s.op(Action.IDENTITY, s.gradient(W)), s.tensor()]

    first, second = called(s, step, outputs=2)
    assert first is not None
    assert (first.variables, first.functions, second) == ({W}, {None}, None)


def test_every_call_of_a_function_asks_anew() -> None:
    s = Stream()
    step = s.function = Function(1, s)
    asked = s.gradient(W)
    step.outputs = [asked, s.op(Action.NEGATE, asked)]

    (first, same), (second, _) = called(s, step, outputs=2), called(s, step, outputs=2)
    assert first is not None
    assert same is not None
    assert second is not None
    assert first.requests == same.requests
    assert first.requests.isdisjoint(second.requests)


def test_a_sum_inside_a_function_is_not_that_of_one_call() -> None:
    s = Stream()
    step = s.function = Function(1, s)
    step.outputs = [s.op(Action.ADD, s.gradient(W), s.gradient(W), place=at(4))]

    [label] = called(s, step)
    assert label is not None
    assert (label.functions, len(label.requests)) == ({1}, 2)


@pytest.mark.parametrize(("inside", "carried"), [(OpKind.CLIP, True), (OpKind.CONTRACT, False)])
def test_a_function_carries_on_what_it_changes_element_by_element(inside: OpKind, carried: bool) -> None:
    s = Stream()
    clip = s.function = Function(1, s)
    clip.inputs = [s.tensor(), s.tensor()]
    clip.outputs = [s.op(inside, clip.inputs[1])]
    s.function = None

    [label] = called(s, clip, s.tensor(), s.gradient(W))
    assert (label is not None) == carried


def test_an_update_that_was_traced_knows_its_gradient_when_it_is_called() -> None:
    s = Stream()
    update = s.function = Function(1, s)
    update.inputs = [s.tensor()]
    found: list[Label] = []
    s.folds.labels.calls.await_arguments(s.op(Action.NEGATE, update.inputs[0]), update, found.append)
    s.function = None
    called(s, update, s.tensor())
    assert found == []

    called(s, update, s.gradient(W))
    assert [label.variables for label in found] == [{W}]


def test_a_function_knows_a_gradient_that_it_captured() -> None:
    s = Stream()
    g, inner = s.gradient(W), s.tensor()
    s.function = Function(1, s, captured={inner: g})

    assert s.label(s.op(Action.NEGATE, inner)).variables == {W}


def test_a_branch_gives_any_of_the_gradients_of_its_sides() -> None:
    s = Stream()
    sides = []
    for key, variable in ((2, W), (3, B)):
        side = s.function = Function(key, s)
        side.outputs = [s.gradient(variable)]
        sides.append(side)
    result = s.tensor()
    s.function = Function(1, s, calls={result: Call(tuple(sides), (), straight=False)})

    assert s.label(result).variables == {W, B}
    assert s.label(result).scale is None


def test_functions_that_were_called_long_ago_are_forgotten() -> None:
    s = Stream()
    for key in range(2000):
        called(s, Function(key, s, outputs=[s.tensor()]))

    assert len(s.folds.labels.calls._returned) <= 512
