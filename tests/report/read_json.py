"""Reports from their JSON: the proof that the form holds everything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whygrad.diagnostics import Diagnostic, Edit, Fix, FixSafety, Label, Severity, Steps
from whygrad.report import LossReach, Report
from whygrad.source import SourceSpan


def from_data(data: Mapping[str, Any]) -> Report:
    """The report that a form was made from."""
    return Report(
        run=data["run"],
        diagnostics=tuple(_read_diagnostic(item) for item in data["diagnostics"]),
        gradients=tuple(_read_reach(item) for item in data["gradients"]),
    )


def _read_diagnostic(data: Mapping[str, Any]) -> Diagnostic:
    primary = data["location"]
    return Diagnostic(
        code=data["code"],
        rule=data["rule"],
        severity=Severity.parse(data["severity"]),
        message=data["message"],
        variables=tuple(data["variables"]),
        primary=None if primary is None else Label(_read_span(primary), data["label"]),
        related=tuple(Label(_read_span(item), item["label"]) for item in data["related"]),
        notes=tuple(data["notes"]),
        help=data["help"],
        steps=Steps(data["steps"]["seen"], data["steps"]["of"]),
        certain=data["certain"],
        fixes=tuple(_read_fix(fix) for fix in data["fixes"]),
    )


def _read_fix(data: Mapping[str, Any]) -> Fix:
    edits = tuple(Edit(_read_span(edit), edit["replacement"]) for edit in data["edits"])
    return Fix(title=data["title"], edits=edits, safety=FixSafety(data["safety"]))


def _read_reach(data: Mapping[str, Any]) -> LossReach:
    where = data["location"]
    return LossReach(
        loss=data["loss"],
        where=None if where is None else _read_span(where),
        reached=tuple(data["reached"]),
        missing=tuple(data["missing"]),
        seen=data["steps"],
    )


def _read_span(data: Mapping[str, Any]) -> SourceSpan:
    column, end_column = data["column"], data["end_column"]
    return SourceSpan(
        data["file"],
        data["line"],
        None if column is None else column - 1,
        data["end_line"],
        None if end_column is None else end_column - 1,
    )
