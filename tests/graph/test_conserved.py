"""Which totals are the same whatever goes in."""

from __future__ import annotations

from typing import Any

import pytest

from graph_builder import GraphBuilder
from whygrad.graph import Action, OpKind, Tensor
from whygrad.graph.questions.conserved import dropped_out
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
        found = dropped_out(request, index_of(request.graph))
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


class Normalised(Program):
    """`(z - mean) * scale`, written as layers do it: `z * scale + (offset - mean * scale)`."""

    def __init__(self, *, is_recorded: bool = True, mean_of: str = "z") -> None:
        super().__init__()
        b = self.g.variable("b")
        offset = self.make(OpKind.MOVE, Action.RESHAPE, b, shape=(1, 3))
        mean = self.total(self.z if mean_of == "z" else self.make(OpKind.SMOOTH, None, self.z), Action.MEAN)
        if not is_recorded:
            with self.g.outside():
                mean = self.total(self.z, Action.MEAN)
        apart = self.make(OpKind.ELEMENTWISE, Action.SQUARED_DIFFERENCE, self.z, mean)
        scale = self.make(OpKind.SQRT, Action.RECIPROCAL_ROOT, self.total(apart, Action.MEAN), shape=ROWS)
        less = self.make(OpKind.ELEMENTWISE, Action.NEGATE, mean, shape=ROWS)
        shift = self.make(OpKind.ELEMENTWISE, Action.MULTIPLY, less, scale, shape=ROWS)
        scaled = self.make(OpKind.ELEMENTWISE, Action.MULTIPLY, self.z, scale)
        self.out = self.make(
            OpKind.ELEMENTWISE, Action.ADD, scaled, self.make(OpKind.ELEMENTWISE, Action.ADD, shift, offset)
        )


@pytest.mark.parametrize("shape", [(), (4,), (4, 1)])
def test_what_goes_into_a_normalised_layer_drops_out_of_its_total_and_its_offset_does_not(
    shape: tuple[int, ...],
) -> None:
    p = Normalised()

    assert p.named(p.total(p.out, shape=shape)) == ["w"]


def test_a_weighted_total_of_a_normalised_layer_keeps_what_goes_in() -> None:
    p = Normalised()
    weights = p.g.constant(shape=(1, 3))

    assert p.named(p.total(p.make(OpKind.ELEMENTWISE, Action.MULTIPLY, p.out, weights))) == []


def test_a_mean_of_something_else_or_one_that_the_tape_did_not_record_keeps_it() -> None:
    p, q = Normalised(mean_of="another"), Normalised(is_recorded=False)

    assert p.named(p.total(p.out)) == []
    assert q.named(q.total(q.out)) == []


def test_a_mean_whose_axis_is_put_back_later_is_the_same() -> None:
    p = Program()
    mean = p.make(OpKind.MOVE, Action.RESHAPE, p.total(p.z, Action.MEAN, shape=(4,)), shape=ROWS)

    assert p.named(p.total(p.make(OpKind.ELEMENTWISE, Action.SUBTRACT, p.z, mean))) == ["w"]


def test_the_root_of_a_square_is_no_way_to_drop_out() -> None:
    p = Program()
    size = p.make(OpKind.SQRT, None, p.make(OpKind.ELEMENTWISE, Action.SQUARE, p.z))
    less = p.make(OpKind.ELEMENTWISE, Action.SUBTRACT, size, p.z)

    assert p.named(p.total(less)) == []
