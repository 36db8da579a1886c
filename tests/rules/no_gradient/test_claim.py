"""Whether anybody misses a gradient that another loss would give as well."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, notes, one
from whygrad.graph import OpKind, Tensor, Variable
from whygrad.graph.failure import Failure
from whygrad.graph.numbers import GradientNumbers
from whygrad.graph.objects import Trained

ROUNDED = "WG101"


class TwoLosses:
    """One loss trains `w` and `b`; another one rounds what it takes of them."""

    def __init__(self, *, beside: bool = False) -> None:
        self.g = g = GraphBuilder()
        self.w, self.b = g.variable("w", writes=1), g.variable("b", writes=1)
        g.request(g.op(OpKind.SMOOTH, (self.w, self.b)), where=at(1))
        g.update([(self.w, self.w), (self.b, self.b)])
        taken: tuple[Tensor | Variable, ...] = (self.w,) if beside else (self.w, self.b)
        cut = g.op(OpKind.ROUND, taken, where=at(2))
        self.other = g.op(OpKind.SMOOTH, (cut, self.b) if beside else (cut,))


def test_fires_when_a_request_of_several_came_to_nothing() -> None:
    p = TwoLosses()

    assert codes(p.g.finish(loss=p.other, where=at(3))) == [ROUNDED]


def test_silent_when_the_request_gave_something_else() -> None:
    p = TwoLosses(beside=True)
    recording = p.g.finish(loss=p.other, where=at(3))

    assert (codes(recording), notes(recording)) == ([], [ROUNDED])


def test_silent_when_one_variable_was_tried_alone() -> None:
    p = TwoLosses()

    assert codes(p.g.finish(loss=p.other, sources=[p.w], where=at(3))) == []


def test_fires_when_an_update_was_given_nothing_else() -> None:
    p = TwoLosses(beside=True)
    p.g.request(p.other, where=at(3))
    p.g.update([(p.w, None)])

    assert codes(p.g.finish()) == [ROUNDED]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("TypeError", "unsupported operand type(s) for *: 'float' and 'NoneType'"),
        ("AttributeError", "'NoneType' object has no attribute 'numpy'"),
        ("ValueError", "None values not supported."),
    ],
)
def test_fires_when_the_program_broke_for_want_of_it(name: str, message: str) -> None:
    p = TwoLosses(beside=True)
    failure = Failure(type_name=name, message=message)

    assert codes(p.g.finish(loss=p.other, where=at(3), failure=failure)) == [ROUNDED]


def test_silent_when_the_program_broke_for_something_else() -> None:
    p = TwoLosses(beside=True)
    failure = Failure(type_name="ValueError", message="no such file")

    assert codes(p.g.finish(loss=p.other, where=at(3), failure=failure)) == []


def test_an_optimizer_left_without_gradients_in_a_converted_function_is_recognised() -> None:
    p = TwoLosses()
    told = "in user code:\n\n    step  *\n\n    ValueError: No gradients provided for any variable.\n"
    failure = Failure(type_name="ValueError", message=told)

    assert codes(p.g.finish(loss=p.other, where=at(3), sources=[p.w], failure=failure)) == [ROUNDED]


def test_zeros_that_were_asked_for_hide_no_request_that_gets_nothing_else() -> None:
    g = GraphBuilder()
    w, v = g.variable("w"), g.variable("v")
    stopped = g.op(OpKind.STOP, (g.op(OpKind.SMOOTH, (w, v)),), where=at(3))
    both = g.finish(loss=g.op(OpKind.SMOOTH, (stopped,)), missing=(), zero=(w, v), zeros_accepted=True)

    assert codes(both) == ["WG103"]


@pytest.mark.parametrize(
    ("cut", "elsewhere", "told"),
    [
        (OpKind.ROUND, False, ([ROUNDED], [])),
        (OpKind.ROUND, True, ([], [])),
        (OpKind.STOP, False, ([], ["WG103"])),
        (OpKind.STOP, True, ([], [])),
    ],
)
def test_zeros_that_were_asked_for_hide_no_cut_of_a_variable_that_nothing_trains(
    cut: OpKind, elsewhere: bool, told: tuple[list[str], list[str]]
) -> None:
    """Beside a gradient that comes; a `stop_gradient` is written on purpose there, and only noted."""
    g = GraphBuilder()
    w, v = g.variable("w"), g.variable("v")
    if elsewhere:
        g.request(g.op(OpKind.SMOOTH, (w,)), [w], where=at(1))
    parted = g.op(cut, (w,), where=at(3))
    one_of_two = g.finish(loss=g.op(OpKind.SMOOTH, (parted, v)), missing=(), zero=(w,), zeros_accepted=True)

    assert (codes(one_of_two), notes(one_of_two)) == told


@pytest.mark.parametrize(
    ("norms", "moved", "told"),
    [((0.0, 0.0), False, [ROUNDED]), ((0.0, 0.0), None, [ROUNDED]), ((0.0, 0.7), False, []), ((0.0, 0.0), True, [])],
)
def test_silent_where_other_steps_of_the_same_request_gave_it_a_gradient(
    norms: tuple[float, ...], moved: bool | None, told: list[str]
) -> None:
    """Requests that differ in what they reach are one where zeros stand for the rest; its numbers are of them all."""
    g = GraphBuilder()
    w, v = g.variable("w"), g.variable("v")
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.ROUND, (w,), where=at(3)), v))
    recording = g.finish(loss=loss, sources=[w, v], missing=(), zero=(w,), zeros_accepted=True)
    request = recording.requests[0]
    seen = replace(request.sources[0], numbers=GradientNumbers(norms=norms, moved=moved))
    request = replace(request, sources=(seen, request.sources[1]))

    assert codes(replace(recording, requests=(request,))) == told


def test_zeros_in_place_of_a_gradient_are_not_counted_among_those_that_come() -> None:
    g = GraphBuilder()
    w, v, idle = g.variable("w"), g.variable("v"), g.variable("idle")
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.ROUND, (w,), where=at(3)), v))
    recording = g.finish(loss=loss, where=at(9), sources=[w, v, idle], missing=(), zero=(w, idle), zeros_accepted=True)

    assert one(recording).notes == ("1 other variable gets a gradient in the same call",)


@pytest.mark.parametrize(("begun", "given", "loud"), [(0, True, True), (10_000, True, False), (0, False, False)])
def test_fires_when_the_training_that_gave_it_is_over(begun: int, given: bool, loud: bool) -> None:
    """A network is trained by `fit`; afterwards an optimizer is given nothing for it, beside another one."""
    g = GraphBuilder()
    w, b = g.variable("w"), g.variable("b")
    g.request(g.op(OpKind.SMOOTH, (w,)), [w], where=at(1), model="model")
    g.update([(w, w)], where=at(1))
    g.event(Trained(model="model", where=at(1), trainable=(w.id,), frozen=(), order=begun))
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.ROUND, (w,), where=at(2)), b))
    g.update([(b, b), *([(w, None)] if given else [])], where=at(4), optimizer_id=2)

    assert codes(g.finish(loss=loss, sources=[w, b], where=at(3))) == ([ROUNDED] if loud else [])


@pytest.mark.parametrize(("nested", "told"), [(True, [ROUNDED]), (False, [])])
def test_a_gradient_of_gradients_that_gives_nothing_is_missed(nested: bool, told: list[str]) -> None:
    """Although another request gives the variable its gradient, and something moves it."""
    g = GraphBuilder()
    w = g.variable("w")
    with g.tape() as inner:
        value = g.op(OpKind.SMOOTH, (w,), where=at(2))
    g.request(value, [w], tape=inner, where=at(3))
    g.update([(w, w)])
    slope = g.op(OpKind.SMOOTH, (w,), where=at(3 if nested else 4))  # the way back runs where it was asked for
    along = g.op(OpKind.SMOOTH, (g.op(OpKind.ROUND, (slope,), where=at(5)),), where=at(6))

    assert codes(g.finish(loss=along, sources=[w], where=at(7))) == told
