"""What passes and what fails, on reports written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from score_gallery import surprise
from scoring.program import Program
from scoring.verdict import fits, judge

FILE = Path("train.py")
HEALTHY = Program(file=FILE, healthy=True, causes=frozenset(), lines=frozenset())
BUG = Program(
    file=FILE,
    healthy=False,
    causes=frozenset({"stop-gradient", "outside-tape"}),
    lines=frozenset({4, 9}),
    variables=("encoder/*", "scale"),
    also=frozenset({("never-updated", 7)}),
)


def said(
    rule: str = "stop-gradient",
    line: int = 4,
    *,
    severity: str = "error",
    variables: tuple[str, ...] = ("net/encoder/kernel", "scale"),
    file: str = "/somewhere/train.py",
    end_line: int | None = None,
) -> dict[str, Any]:
    place = {"file": file, "line": line, "end_line": end_line}
    return {"rule": rule, "severity": severity, "variables": list(variables), "location": place}


def test_a_healthy_program_gets_neither_error_nor_warning() -> None:
    assert judge(HEALTHY, []) == ""
    assert judge(HEALTHY, [said(severity="note")]) == ""
    assert judge(HEALTHY, [said(severity="warning")]) == "healthy, but: stop-gradient at line 4"


@pytest.mark.parametrize(
    "right", [said(), said("outside-tape"), said(line=9), said(line=8, end_line=10), said(severity="warning")]
)
def test_an_accepted_rule_at_an_accepted_line_passes(right: dict[str, Any]) -> None:
    assert judge(BUG, [right]) == ""


@pytest.mark.parametrize(
    ("wrong", "got"),
    [
        ([], "nothing"),
        ([said("constant-target")], "constant-target at line 4"),
        ([said(line=5)], "stop-gradient at line 5"),
        ([said(severity="note")], "nothing"),
        ([said(file="/elsewhere/layers.py")], "stop-gradient at line 4"),
        ([said("never-updated", 7)], "never-updated at line 7"),
    ],
)
def test_nothing_else_passes(wrong: list[dict[str, Any]], got: str) -> None:
    assert judge(BUG, wrong) == f"wanted outside-tape or stop-gradient at line 4 or 9, got: {got}"


@pytest.mark.parametrize("line", [4, 5])
def test_a_wrong_finding_besides_the_right_one_fails(line: int) -> None:
    assert judge(BUG, [said(), said("dead-units", line)]) == f"wrong besides the right one: dead-units at line {line}"


def test_the_right_rule_a_second_time_at_a_wrong_line_fails() -> None:
    assert judge(BUG, [said(), said(line=5)]) == "wrong besides the right one: stop-gradient at line 5"


def test_what_the_header_calls_true_too_may_be_said_besides() -> None:
    assert judge(BUG, [said("never-updated", 7, severity="warning"), said()]) == ""
    assert judge(BUG, [said("never-updated", 8), said()]) == "wrong besides the right one: never-updated at line 8"


def test_the_variables_must_be_named() -> None:
    assert judge(BUG, [said(variables=("scale",))]) == "does not name encoder/*, only: scale"
    assert judge(BUG, [said(variables=())]) == "does not name encoder/*, scale, only: nothing"


def test_two_right_findings_name_the_variables_together() -> None:
    assert judge(BUG, [said(variables=("scale",)), said(line=9, variables=("encoder/bias",))]) == ""


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("w", "w"),
        ("*", "w"),
        ("dense/*", "dense/kernel"),
        ("dense/*", "net/dense/kernel"),
        ("kernel", "net/dense/kernel"),
        ("t", "self.t"),
        ("table[2]", "table[2]"),
        ("dense_*/kernel", "attention/dense_3/kernel"),
    ],
)
def test_a_name_is_fitted_by_its_last_parts(pattern: str, name: str) -> None:
    assert fits(pattern, name)


@pytest.mark.parametrize(
    ("pattern", "name"),
    [("w", "raw"), ("dense/*", "dense_1/kernel"), ("net/*", "dense/kernel"), ("dense/kernel", "dense"), ("w", "w/b")],
)
def test_no_other_name_is_fitted(pattern: str, name: str) -> None:
    assert not fits(pattern, name)


def test_known_limits_are_strict_both_ways() -> None:
    limits = {"known": "the reason"}

    assert surprise("known", "wanted this, got that", limits) == ""
    assert surprise("other", "", limits) == ""
    assert surprise("other", "wanted this, got that", limits) == "wanted this, got that"
    assert surprise("known", "", limits) == "passes now: take it off known_limits.txt"
