"""Which rule a NaN gets, on recordings built by hand: by what the op does and what went into it, never by its name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import Script, at, diagnostics, one
from whygrad.diagnostics import Severity
from whygrad.graph import Action, OpKind, Recording
from whygrad.graph.nonfinite import FailingOp, Feeder, Nonfinite, Occurrence, Stage, ValueFacts
from whygrad.source import SourceSpan

CALL = SourceSpan("train.py", 7, 4, 7, 30)
ZERO = ValueFacts(dtype="float32", shape=(2,), low=0.0, high=0.0, zeros=2)
HUGE = ValueFacts(dtype="float32", shape=(2,), low=-1e30, high=1e30)
NAN = ValueFacts(dtype="float32", shape=(2,), nans=2)
INF = ValueFacts(dtype="float32", shape=(2,), infs=2)


def inner(line: int = 7) -> SourceSpan:
    """An expression inside of the call."""
    return SourceSpan("train.py", line, 10, line, 20)


def birth(kind: OpKind, *fed_by: Feeder, value: ValueFacts = NAN, where: SourceSpan = CALL, **facts: Any) -> Recording:
    when = facts.pop("when", Occurrence(loss_is_bad=True))
    facts.setdefault("inputs", (ZERO,))
    op = FailingOp(kind=kind, name="AnyName", fed_by=fed_by, **facts)
    return Recording(events=(Nonfinite(stage=Stage.BORN, where=where, value=value, op=op, when=when),))


def rule_of(recording: Recording) -> str:
    return one(recording).rule


def chain(*steps: tuple[OpKind, Action | None], where: SourceSpan | None = CALL) -> tuple[Feeder, ...]:
    """Feeders of which each went into the one before it."""
    return tuple(
        Feeder(kind=kind, action=action, where=where, into=position - 1 if position else None)
        for position, (kind, action) in enumerate(steps)
    )


SUM, MEAN = (OpKind.REDUCE, Action.SUM), (OpKind.REDUCE, Action.MEAN)
SQUARE = (OpKind.ELEMENTWISE, Action.SQUARE)
DIFFERENCE = (OpKind.ELEMENTWISE, Action.SUBTRACT)
POWER = (OpKind.POWER, None)


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        (OpKind.LOG, "nan-log"),
        (OpKind.SQRT, "nan-sqrt"),
        (OpKind.DIVIDE, "nan-division"),
        (OpKind.POWER, "nan-pow"),
        (OpKind.EXP, "nan-exp"),
        (OpKind.SOFTMAX, "nan-exp"),
        (OpKind.INVERSE_TRIG, "nan-acos"),
        (OpKind.OTHER, "nan-op"),
    ],
)
def test_the_kind_of_the_op_decides(kind: OpKind, rule: str) -> None:
    assert rule_of(birth(kind)) == rule


@pytest.mark.parametrize(
    ("action", "rule"),
    [
        (Action.GROW_EXPONENTIALLY, "nan-exp"),
        (Action.MODULO, "nan-division"),
        (Action.ANGLE, "nan-division"),
        (Action.NORM, "nan-norm"),
        (None, "nan-op"),
    ],
)
def test_what_it_computes_decides_where_the_kind_is_too_wide(action: Action | None, rule: str) -> None:
    assert rule_of(birth(OpKind.OTHER, action=action)) == rule


def test_root_of_a_sum_of_squares_in_one_call_is_a_norm() -> None:
    assert rule_of(birth(OpKind.SQRT, *chain(SUM, SQUARE), backward=True)) == "nan-norm"


def test_power_of_a_sum_of_powers_in_one_call_is_a_norm() -> None:
    assert rule_of(birth(OpKind.POWER, *chain(SUM, POWER), backward=True)) == "nan-norm"


def test_root_that_the_user_takes_of_a_sum_of_squares_stays_a_root() -> None:
    assert rule_of(birth(OpKind.SQRT, *chain(SUM, SQUARE, where=inner()), backward=True)) == "nan-sqrt"


def test_root_of_a_sum_of_anything_else_is_no_norm() -> None:
    assert rule_of(birth(OpKind.SQRT, *chain(SUM, DIFFERENCE))) == "nan-sqrt"
    assert rule_of(birth(OpKind.SQRT, *chain(SUM, POWER))) == "nan-sqrt"
    assert rule_of(birth(OpKind.SQRT, *chain(MEAN, SQUARE))) == "nan-sqrt"


def test_reciprocal_root_of_a_sum_of_squares_is_a_normalisation_and_no_norm() -> None:
    assert rule_of(birth(OpKind.SQRT, *chain(SUM, SQUARE), action=Action.RECIPROCAL_ROOT)) == "nan-sqrt"


def test_root_of_a_mean_of_squared_differences_in_one_call_is_a_deviation() -> None:
    assert rule_of(birth(OpKind.SQRT, *chain(MEAN, SQUARE, DIFFERENCE), backward=True)) == "nan-std"
    squared = (OpKind.ELEMENTWISE, Action.SQUARED_DIFFERENCE)
    assert rule_of(birth(OpKind.SQRT, *chain(MEAN, squared), backward=True)) == "nan-std"


def test_root_that_the_user_takes_of_a_variance_stays_a_root() -> None:
    assert rule_of(birth(OpKind.SQRT, *chain(MEAN, SQUARE, DIFFERENCE, where=inner()), backward=True)) == "nan-sqrt"


def test_a_mask_is_the_cause_whatever_it_hides() -> None:
    assert rule_of(birth(OpKind.LOG, is_masked=True, backward=True)) == "nan-where"


def test_a_narrow_dtype_is_the_cause_where_a_wide_one_has_room() -> None:
    assert rule_of(birth(OpKind.REDUCE, value=INF, finite_when_wider=True)) == "nan-float16"


def overflowing_sum(*, asked: int = 9, bad: tuple[str, ...] = ()) -> tuple[str, ...]:
    """What is named where the sum of one layer's squares is infinite, and another layer has a term of its own."""
    g = GraphBuilder()
    wide, out = g.variable("wide"), g.variable("out")
    total = g.op(OpKind.REDUCE, (g.op(OpKind.ELEMENTWISE, (wide,)),), where=at(7), action=Action.SUM)
    recording = g.finish(loss=g.op(OpKind.ELEMENTWISE, (total, out), where=at(8)), where=at(asked))
    when = Occurrence(request=at(9), loss_is_bad=True, variables=tuple(v.id for v in (wide, out) if v.name in bad))
    born = birth(OpKind.REDUCE, value=INF, where=at(7), action=Action.SUM, finite_when_wider=True, when=when)
    return one(replace(recording, events=born.events)).variables


def test_an_infinite_loss_names_what_went_into_the_op_when_all_gradients_are_finite() -> None:
    assert overflowing_sum() == ("wide",)


def test_an_infinite_loss_names_the_variables_whose_gradients_are_bad_when_there_are_any() -> None:
    assert overflowing_sum(bad=("out",)) == ("out",)


def test_an_infinite_loss_names_nothing_when_its_request_is_not_at_hand() -> None:
    assert overflowing_sum(asked=5) == ()


def test_a_reduction_of_nothing() -> None:
    empty = ValueFacts(dtype="float32", shape=(0, 3))

    assert rule_of(birth(OpKind.REDUCE, inputs=(empty,))) == "nan-empty-reduce"


def test_a_product_that_overflows_at_once_and_one_that_has_grown() -> None:
    later = Occurrence(loss_is_bad=True, step=9, seen=1, of=9)

    assert rule_of(birth(OpKind.ELEMENTWISE, value=INF)) == "nan-overflow"
    assert rule_of(birth(OpKind.CONTRACT, value=NAN, inputs=(HUGE,))) == "nan-overflow"
    assert rule_of(birth(OpKind.ELEMENTWISE, value=INF, when=later)) == "exploding-gradient"
    assert rule_of(birth(OpKind.ELEMENTWISE, value=NAN)) == "nan-op"


def test_an_exponential_is_the_cause_of_an_overflow_only_through_numbers_that_are_all_huge() -> None:
    def overflow(between: float) -> Recording:
        sum_of = Feeder(kind=OpKind.REDUCE, action=Action.SUM, where=at(6), high=between)
        exponential = Feeder(kind=OpKind.EXP, where=at(5), into=0, high=1e30)
        return birth(OpKind.ELEMENTWISE, sum_of, exponential, value=INF)

    assert rule_of(overflow(1e30)) == "nan-exp"
    assert rule_of(overflow(10.0)) == "nan-overflow"


def test_a_place_of_which_only_the_line_is_known_is_still_one_place() -> None:
    fed_by = chain(SUM, SQUARE, where=at(7))

    assert rule_of(birth(OpKind.SQRT, *fed_by, where=at(7), backward=True)) == "nan-norm"


def test_bad_gradients_that_were_skipped_are_only_worth_knowing() -> None:
    skipped = Occurrence(skipped=True, seen=1, of=20)
    [found] = diagnostics(birth(OpKind.LOG, when=skipped))

    assert (found.rule, found.severity) == ("nan-log", Severity.NOTE)
    assert "training went on" in found.notes[-1]


@pytest.mark.parametrize(
    ("base", "exponent", "step", "rule"),
    [
        (HUGE, 4.0, 5, "exploding-gradient"),
        (HUGE, 4.0, 1, "nan-overflow"),
        (HUGE, 0.5, 5, "nan-pow"),
        (ZERO, -2.0, 5, "nan-pow"),
    ],
)
def test_a_power_that_overflows_has_grown(base: ValueFacts, exponent: float, step: int, rule: str) -> None:
    facts = (base, ValueFacts(dtype="float32", shape=(), low=exponent, high=exponent))
    when = Occurrence(loss_is_bad=True, step=step)

    assert rule_of(birth(OpKind.POWER, inputs=facts, value=INF, when=when)) == rule


def test_the_replica_that_is_bad_alone_is_named() -> None:
    recording = birth(OpKind.LOG)
    alone = replace(recording, events=tuple(replace(event, replica=1) for event in recording.events))

    assert "on replica 1 alone, in its part of the batch" in one(alone).notes
    assert not any("replica" in note for note in one(recording).notes)


@pytest.mark.parametrize(
    ("expression", "dtype", "rule"),
    [
        ("(1 - keep) * -1e9", "float16", "nan-float16"),
        ("(1 - keep) * -1e9", "float32", "nan-op"),
        ("(1 - keep) * -1e4", "float16", "nan-op"),
        ("(1 - keep) * low", "float16", "nan-op"),
    ],
)
def test_a_number_that_float16_cannot_hold_is_the_cause(tmp_path: Path, expression: str, dtype: str, rule: str) -> None:
    script = Script(tmp_path, f"scores = {expression}")
    bad = replace(NAN, dtype=dtype)

    assert rule_of(birth(OpKind.ELEMENTWISE, value=bad, where=script[expression], action=Action.MULTIPLY)) == rule


def born_twice(**second: Any) -> Recording:
    first = birth(OpKind.LOG, when=Occurrence(loss_is_bad=True, request=inner(9))).events[0]
    other = birth(OpKind.LOG, when=Occurrence(loss_is_bad=True, request=inner(12)), **second).events[0]
    return Recording(events=(first, other))


def test_one_expression_that_spoils_two_requests_is_one_finding() -> None:
    assert rule_of(born_twice()) == "nan-log"


def test_of_one_expression_what_is_certain_is_said() -> None:
    first, second = born_twice().events
    assert isinstance(first, Nonfinite)
    found = one(Recording(events=(replace(first, exact=False), second)))
    assert found.certain
    assert found.severity is Severity.ERROR


def test_two_expressions_are_two_findings() -> None:
    assert len(diagnostics(born_twice(where=inner(8)))) == 2


def test_what_came_with_other_random_numbers_is_likely_and_says_in_how_many_runs() -> None:
    [event] = birth(OpKind.LOG).events
    assert isinstance(event, Nonfinite)
    found = one(Recording(events=(replace(event, exact=False, tries=12),)))
    assert found.severity is Severity.WARNING
    assert "likely" in found.message
    assert any("12 runs" in note for note in found.notes)
