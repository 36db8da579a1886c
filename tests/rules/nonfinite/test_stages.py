"""What becomes of a value that is not finite, and numbers that lose their scale: on recordings built by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules.diagnosis import at, codes, diagnostics, one
from whygrad.diagnostics import Severity
from whygrad.graph import Action, Event, OpKind, Recording, Variable, VariableId
from whygrad.graph.nonfinite import (
    FailingOp,
    Feeder,
    Nonfinite,
    Occurrence,
    Scaled,
    Scaling,
    Stage,
    UpdateFacts,
    ValueFacts,
)

ONE, TWO = VariableId(1), VariableId(2)
VARIABLES = {number: Variable(id=number, name=f"w{number}", dtype="float32") for number in (ONE, TWO)}
FACTS = ValueFacts(dtype="float32", shape=(4, 2), low=0.0, high=1.0, nans=1)
BAD_LOSS = Occurrence(loss_is_bad=True)


def recorded(*events: Event) -> Recording:
    return Recording(events=events, variables=VARIABLES)


def test_data_and_variables_that_were_bad_when_they_came_in() -> None:
    data = Nonfinite(stage=Stage.ENTERED, where=at(3), value=FACTS, rows=(2,), columns=(1,), when=BAD_LOSS)
    weights = replace(data, variables=(ONE,))

    assert one(recorded(data)).rule == "nan-data"
    assert "bad: row 3, feature 2, counted from 1" in one(recorded(data)).notes
    assert one(recorded(weights)).rule == "nan-weights"
    assert one(recorded(weights)).variables == ("w1",)


@pytest.mark.parametrize(("pieces", "bad", "found"), [(4, 1, ["WG506"]), (4, 4, []), (4, 0, [])])
def test_a_sum_is_spoilt_only_where_some_of_it_was_good(pieces: int, bad: int, found: list[str]) -> None:
    summed = Nonfinite(stage=Stage.SUMMED, where=at(5), variables=(ONE,), pieces=pieces, bad_pieces=bad)

    assert codes(recorded(summed)) == found


def test_a_spread_is_an_error_alone_and_a_warning_next_to_the_birth_that_caused_it() -> None:
    spread = Nonfinite(stage=Stage.SPREAD, where=at(8), variables=(TWO,), culprits=(ONE,))
    op = FailingOp(kind=OpKind.LOG, name="AnyName")
    born = Nonfinite(stage=Stage.BORN, where=at(4), value=FACTS, op=op, when=Occurrence(variables=(ONE,)))
    elsewhere = replace(born, when=Occurrence(variables=(TWO,)))

    def severity(*events: Event) -> Severity:
        return next(each.severity for each in diagnostics(recorded(*events)) if each.rule == "nan-clip")

    assert severity(spread) is Severity.ERROR
    assert severity(spread, born) is Severity.WARNING
    assert severity(spread, elsewhere) is Severity.ERROR


@pytest.mark.parametrize(
    ("dtype", "epsilon", "vanishes"),
    [("float16", 1e-8, True), ("float16", 1e-7, False), ("float32", 1e-8, False), ("float32", 0.0, True)],
)
def test_epsilon_is_blamed_where_it_is_zero_in_the_dtype_of_the_variables(
    dtype: str, epsilon: float, vanishes: bool
) -> None:
    facts = UpdateFacts(optimizer="Adam", where=at(9), epsilon=epsilon, dtype=dtype)
    found = one(recorded(Nonfinite(stage=Stage.UPDATE, where=at(9), update=facts, variables=(ONE,))))

    assert found.rule == "nan-optimizer"
    assert ("epsilon=" in found.notes[0]) is vanishes


def test_an_update_that_the_user_wrote_is_shown_at_the_op_that_failed() -> None:
    facts = UpdateFacts(optimizer="Mine", where=at(9))
    op = FailingOp(kind=OpKind.DIVIDE, name="AnyName")
    found = one(recorded(Nonfinite(stage=Stage.UPDATE, where=at(3), op=op, update=facts, variables=(ONE,))))

    assert found.primary is not None
    assert found.primary.span == at(3)
    assert [label.span for label in found.related] == [at(9)]


def normalised(factor: float, root: Feeder) -> Scaled:
    total = Feeder(kind=OpKind.REDUCE, action=Action.SUM, into=0, low=1e-12)
    return Scaled(how=Scaling.ENLARGED, where=at(6), factor=factor, largest=1e6, fed_by=(root, total))


def test_a_gradient_that_one_normalisation_enlarges() -> None:
    found = one(recorded(normalised(1e6, Feeder(kind=OpKind.SQRT, action=Action.RECIPROCAL_ROOT))))

    assert found.rule == "exploding-normalise"
    assert found.primary is not None
    assert found.primary.text == "divides by a norm of 1e-06"


def test_silent_where_the_gradient_grows_little_or_by_something_else() -> None:
    assert codes(recorded(normalised(100.0, Feeder(kind=OpKind.SQRT)))) == []
    assert codes(recorded(normalised(1e6, Feeder(kind=OpKind.EXP)))) == []
    root_of_nothing = Scaled(how=Scaling.ENLARGED, where=at(6), factor=1e6, fed_by=(Feeder(kind=OpKind.SQRT),))
    assert codes(recorded(root_of_nothing)) == []


@pytest.mark.parametrize(("lost", "variables", "found"), [(95, (ONE,), ["WG416"]), (95, (), []), (50, (ONE,), [])])
def test_gradients_are_lost_where_nearly_all_become_zero_and_a_variable_gets_none(
    lost: int, variables: tuple[VariableId, ...], found: list[str]
) -> None:
    cast = Scaled(how=Scaling.CAST, where=at(6), lost=lost, of=100, variables=variables)

    assert codes(recorded(cast)) == found


def test_an_optimizer_that_divides_by_a_scale_that_no_loss_was_multiplied_by() -> None:
    divided = Scaled(how=Scaling.DIVIDED, where=at(6), factor=32768.0, optimizer="scaled", when=Occurrence(seen=3))
    found = one(recorded(divided))

    assert found.message == "every update by `scaled` is 32768 times too small: the loss was not scaled"
    assert found.steps.seen == 3


def test_advice_for_a_value_without_a_place_depends_on_where_it_may_have_been_made() -> None:
    unplaced = Nonfinite(stage=Stage.UNPLACED, where=at(3), variables=(ONE,), reason="it drew numbers", when=BAD_LOSS)
    changed = replace(unplaced, update=UpdateFacts(optimizer="sgd", where=at(3)))

    alone, between = one(recorded(unplaced)), one(recorded(changed))
    assert alone.rule == between.rule == "nan-unplaced"
    assert alone.help is not None
    assert "--find-nan" in alone.help
    assert between.help is not None
    assert "before the update" in between.help


def test_what_goes_bad_between_the_gradient_and_the_update_is_not_blamed_on_the_loss() -> None:
    op = FailingOp(kind=OpKind.LOG, name="AnyName", inputs=(ValueFacts(dtype="float32", low=0.0, high=0.0, zeros=1),))
    when = Occurrence(request=at(9), in_update=True, variables=(ONE, TWO))
    found = one(recorded(Nonfinite(stage=Stage.BORN, where=at(7), value=FACTS, op=op, when=when)))

    assert found.message.startswith("the update of `w1` and `w2` is NaN, though the gradients are finite: ")
    assert [(label.span, label.text) for label in found.related] == [(at(9), "in this update")]
    assert "logits" not in found.help


def test_a_variable_that_was_written_badly_is_told_from_one_that_began_so() -> None:
    began = Nonfinite(stage=Stage.ENTERED, where=at(3), value=FACTS, variables=(ONE,), when=BAD_LOSS)
    written = replace(began, written_at=at(5))

    assert one(recorded(began)).message == "the loss is NaN: `w1` is not finite before any update"
    assert one(recorded(written)).message == "the loss is NaN: `w1` was given a value that is not finite"
    assert "checkpoint" in one(recorded(began)).help
    assert "what is written here" in one(recorded(written)).help
