"""Which totals are the same whatever goes in."""

from __future__ import annotations

from typing import Any

import pytest

from graph_builder import GraphBuilder
from whygrad.graph import Action, OpKind, Tensor
from whygrad.graph.questions.conserved import conserved_totals
from whygrad.graph.questions.query import index_of

SHAPE, ROWS = (4, 3), (4, 1)


class Program:
    """`z` is made of a variable, normalised somehow, and added up again."""

    def __init__(self) -> None:
        self.g = GraphBuilder()
        self.w = self.g.variable("w")
        self.z = self.make(OpKind.CONTRACT, None, self.w)

    def make(self, kind: OpKind, action: Action | None, *inputs: Any, shape: tuple[int, ...] = SHAPE) -> Tensor:
        return self.g.op(kind, inputs, action=action, shape=shape)

    def total(self, of: Tensor, action: Action = Action.SUM, shape: tuple[int, ...] = ROWS) -> Tensor:
        return self.make(OpKind.REDUCE, action, of, shape=shape)

    def root(self, *, reciprocal: bool) -> Tensor:
        squares = self.make(OpKind.ELEMENTWISE, Action.SQUARE, self.z)
        action = Action.RECIPROCAL_ROOT if reciprocal else None
        return self.make(OpKind.SQRT, action, self.total(squares), shape=ROWS)

    def named(self, loss: Tensor) -> list[str]:
        recording = self.g.finish(loss=self.make(OpKind.SMOOTH, None, loss, shape=()))
        [request] = recording.requests
        found = conserved_totals(request, index_of(request.graph))
        return [recording.variables[s.variable].name for each in found for s in each.sources if s.variable is not None]


def softmax(p: Program) -> Tensor:
    return p.make(OpKind.SOFTMAX, Action.SOFTMAX, p.z)


def by_its_sum(p: Program) -> Tensor:
    return p.make(OpKind.DIVIDE, Action.DIVIDE, p.z, p.total(p.z))


def less_its_mean(p: Program) -> Tensor:
    return p.make(OpKind.ELEMENTWISE, Action.SUBTRACT, p.z, p.total(p.z, Action.MEAN))


def by_its_norm(p: Program) -> Tensor:
    unit = p.make(OpKind.DIVIDE, Action.DIVIDE, p.z, p.root(reciprocal=False))
    return p.make(OpKind.ELEMENTWISE, Action.SQUARE, unit)


def times_its_inverse_norm(p: Program) -> Tensor:
    unit = p.make(OpKind.ELEMENTWISE, Action.MULTIPLY, p.z, p.root(reciprocal=True))
    return p.make(OpKind.ELEMENTWISE, Action.SQUARE, unit)


@pytest.mark.parametrize("normalise", [softmax, by_its_sum, less_its_mean, by_its_norm, times_its_inverse_norm])
@pytest.mark.parametrize("shape", [(), (4,), (4, 1)])
def test_the_total_of_what_was_normalised_is_always_the_same(normalise: Any, shape: tuple[int, ...]) -> None:
    p = Program()

    assert p.named(p.total(normalise(p), shape=shape)) == ["w"]


@pytest.mark.parametrize("normalise", [softmax, by_its_sum])
def test_a_total_along_another_axis_is_not(normalise: Any) -> None:
    p = Program()

    assert p.named(p.total(normalise(p), shape=(3,))) == []


def test_what_is_used_beside_its_total_is_not() -> None:
    p = Program()
    out = softmax(p)

    assert p.named(p.make(OpKind.ELEMENTWISE, Action.ADD, p.total(out), out)) == []


def test_a_variable_that_goes_around_the_total_is_not() -> None:
    p = Program()

    assert p.named(p.make(OpKind.ELEMENTWISE, Action.ADD, p.total(softmax(p)), p.z)) == []


def test_what_is_multiplied_by_its_norm_or_divided_by_the_sum_of_its_squares_is_not() -> None:
    p, q = Program(), Program()
    longer = p.make(OpKind.ELEMENTWISE, Action.MULTIPLY, p.z, p.root(reciprocal=False))
    squares = q.make(OpKind.ELEMENTWISE, Action.SQUARE, q.z)
    shorter = q.make(OpKind.DIVIDE, Action.DIVIDE, q.z, q.total(squares))

    assert p.named(p.total(p.make(OpKind.ELEMENTWISE, Action.SQUARE, longer))) == []
    assert q.named(q.total(q.make(OpKind.ELEMENTWISE, Action.SQUARE, shorter))) == []
