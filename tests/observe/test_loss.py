"""The factor in front of a loss, and whether it is a mean."""

from __future__ import annotations

import pytest

from observe.stream import Stream, at
from whygrad.graph import Action, OpKind
from whygrad.observe.loss import CarriedTargets, LossForm, loss_form


def form(s: Stream, loss: int) -> LossForm:
    return loss_form([loss], s.makers.get, s.folds.labels.constants)


def test_the_factors_in_front_of_a_mean_are_multiplied() -> None:
    s = Stream()
    loss = s.op(Action.MULTIPLY, s.op(Action.MEAN, s.tensor()), s.constant(0.5), place=at(2))
    loss = s.op(Action.DIVIDE, s.op(Action.NEGATE, loss), s.constant(4.0), place=at(3))

    assert form(s, loss) == LossForm(0.125, True, at(2))


def test_a_sum_is_a_mean_only_where_it_is_divided_by_a_number_that_was_computed() -> None:
    s = Stream()
    total = s.op(Action.SUM, s.tensor())

    assert not form(s, total).mean
    assert form(s, s.op(Action.DIVIDE, total, s.op(Action.SUM, s.tensor()))).mean
    assert form(s, s.op(Action.DIVIDE, total, s.constant(8.0))) == LossForm(0.125, False, None)


def test_a_mean_behind_a_stop_is_no_part_of_the_loss() -> None:
    s = Stream()
    stopped = s.op(Action.PASS_ON, s.op(Action.MEAN, s.tensor()), kind=OpKind.STOP)

    assert not form(s, s.op(Action.ADD, s.op(Action.SUM, s.tensor()), stopped)).mean


def test_a_chain_without_end_is_given_up() -> None:
    s = Stream()
    loss = s.op(Action.MEAN, s.tensor())
    for _ in range(1000):
        loss = s.op(Action.NEGATE, loss)

    assert not form(s, loss).mean


@pytest.mark.parametrize(("joint", "inside"), [(Action.ADD, {1}), (Action.MULTIPLY, {1}), (OpKind.CONTRACT, set())])
def test_a_target_holds_an_earlier_one_that_was_added_up_in_it(joint: Action | OpKind, inside: set[int]) -> None:
    s = Stream()
    targets = CarriedTargets()
    first = s.op(OpKind.SMOOTH, s.tensor())
    second = s.op(joint, first, s.tensor())

    assert targets.inside(7, [first], 1, s.makers.get) == set()
    assert targets.inside(7, [second], 2, s.makers.get) == inside
    assert targets.inside(8, [second], 3, s.makers.get) == set()  # another tape


def test_the_factor_of_a_penalty_is_not_that_of_the_loss() -> None:
    s = Stream()
    error = s.op(Action.MEAN, s.tensor())
    penalty = s.op(Action.MULTIPLY, s.constant(1e-4), s.op(Action.SUM, s.tensor()), place=at(2))

    assert form(s, s.op(Action.ADD, error, penalty)) == LossForm(1.0, True, None)
    assert form(s, s.op(Action.ADD, penalty, error)) == LossForm(1.0, True, None)
