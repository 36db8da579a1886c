"""From diagnostics to a verdict."""

from __future__ import annotations

from typing import Any

import pytest

from mutants.judge import Peace, Verdict, beside, judge, peace
from mutants.operators import OPERATORS, Change
from mutants.table import table

STOP, MISSING = OPERATORS["stop"], OPERATORS["unwatch"]
CHANGE = Change("", 4, 5)


def said(severity: str, rule: str, line: int, **more: Any) -> dict[str, Any]:
    return {"severity": severity, "rule": rule, "location": {"file": "/tmp/x/train.py", "line": line}, **more}


@pytest.mark.parametrize(
    ("diagnostics", "verdict"),
    [
        ([said("error", "stop-gradient", 5)], Verdict.PLACED),
        ([said("error", "constant-target", 9), said("warning", "stop-gradient", 4)], Verdict.PLACED),
        ([said("error", "stop-gradient", 9)], Verdict.NAMED),
        ([said("note", "stop-gradient", 4)], Verdict.NOTE),
        ([said("note", "stop-gradient", 9)], Verdict.SILENT),
        ([], Verdict.SILENT),
        ([said("error", "constant-target", 4)], Verdict.WRONG),
        ([said("error", "constant-target", 4), said("note", "stop-gradient", 4)], Verdict.NOTE),
    ],
)
def test_the_best_that_is_said_decides(diagnostics: list[dict[str, Any]], verdict: Verdict) -> None:
    assert judge(STOP, CHANGE, "/other/train.py", diagnostics) is verdict


def test_a_place_is_also_one_that_is_related_or_that_spans_the_change() -> None:
    related = said("error", "stop-gradient", 20, related=[{"file": "train.py", "line": 4}])
    wide = {**said("error", "stop-gradient", 1), "location": {"file": "train.py", "line": 1, "end_line": 6}}

    assert judge(STOP, CHANGE, "train.py", [related]) is Verdict.PLACED
    assert judge(STOP, CHANGE, "train.py", [wide]) is Verdict.PLACED


def test_another_file_is_another_place() -> None:
    assert judge(STOP, CHANGE, "model.py", [said("error", "stop-gradient", 4)]) is Verdict.NAMED


def test_what_is_missing_has_no_place() -> None:
    nowhere = {**said("error", "unwatched-source", 0), "location": None}

    assert judge(MISSING, Change(""), "train.py", [nowhere]) is Verdict.PLACED


def test_what_is_said_beside_the_right_thing_is_kept() -> None:
    both = [said("error", "dead-units", 2), said("error", "stop-gradient", 4), said("note", "nan-log", 1)]

    assert [each["rule"] for each in beside(STOP, both)] == ["dead-units"]


def test_a_healthy_variant_bears_notes_only() -> None:
    assert peace([said("note", "nan-log", 1)]) is Peace.QUIET
    assert peace([said("note", "nan-log", 1), said("warning", "dead-units", 2)]) is Peace.LOUD


def test_the_table_counts_for_each_operator_and_apart_with_a_penalty() -> None:
    rows = [
        {"operator": "stop", "verdict": "placed", "penalty": False},
        {"operator": "stop", "verdict": "wrong", "penalty": False},
        {"operator": "stop", "verdict": "silent", "penalty": True},
        {"operator": "", "verdict": "loud", "penalty": False},
    ]

    lines = [line.split() for line in table(rows).splitlines()]
    assert lines[1] == ["stop", "50%", "1", "0", "0", "0", "1"]
    assert lines[2] == ["all", "50%", "1", "0", "0", "0", "1"]
    assert lines[-1] == ["healthy", "variants:", "0", "quiet,", "1", "loud"]
    assert lines[4] == ["stop", "0%", "0", "0", "0", "1", "0"]
