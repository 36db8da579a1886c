"""The form for programs. `schema.py` says what is in it; the names and their meaning are a contract."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from whygrad.diagnostics import Diagnostic, Fix, FixSafety, Label, Severity, Steps
from whygrad.report.report import LossReach, Report
from whygrad.source import SourceSpan

SCHEMA_VERSION = 1


def render_json(report: Report) -> str:
    """The report as JSON, all of it ASCII, so that any stream can take it."""
    return json.dumps(to_data(report), indent=2, allow_nan=False)


def to_data(report: Report) -> dict[str, Any]:
    """The report as dicts, lists, strings and numbers."""
    return {
        "schema_version": SCHEMA_VERSION,
        "run": plain(report.run),
        "diagnostics": [_diagnostic(diagnostic) for diagnostic in report.diagnostics],
        "gradients": [_reach(reach) for reach in report.gradients],
    }


def from_data(data: Mapping[str, Any]) -> Report:
    """The report that `to_data` was made from."""
    return Report(
        run=data["run"],
        diagnostics=tuple(_read_diagnostic(item) for item in data["diagnostics"]),
        gradients=tuple(_read_reach(item) for item in data["gradients"]),
    )


def location(span: SourceSpan) -> dict[str, Any]:
    """Columns counted from 1; `end_column` is the one after the last."""
    return {
        "file": span.file,
        "line": span.line,
        "column": None if span.column is None else span.column + 1,
        "end_line": span.end_line,
        "end_column": None if span.end_column is None else span.end_column + 1,
    }


def plain(value: object) -> Any:
    """The value in terms of JSON; what JSON has no word for, as the text Python shows for it."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)


def _diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    primary = diagnostic.primary
    return {
        "code": diagnostic.code,
        "rule": diagnostic.rule,
        "severity": diagnostic.severity.label,
        "message": diagnostic.message,
        "variables": list(diagnostic.variables),
        "location": None if primary is None else location(primary.span),
        "label": None if primary is None else primary.text,
        "related": [{**location(label.span), "label": label.text} for label in diagnostic.related],
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
        "steps": {"seen": diagnostic.steps.seen, "of": diagnostic.steps.of},
        "certain": diagnostic.certain,
        "fix": None if diagnostic.fix is None else _fix(diagnostic.fix),
    }


def _fix(fix: Fix) -> dict[str, Any]:
    return {**location(fix.span), "replacement": fix.replacement, "safety": fix.safety.value}


def _reach(reach: LossReach) -> dict[str, Any]:
    return {
        "loss": reach.loss,
        "location": None if reach.where is None else location(reach.where),
        "reached": list(reach.reached),
        "missing": list(reach.missing),
        "steps": reach.seen,
    }


def _read_diagnostic(data: Mapping[str, Any]) -> Diagnostic:
    primary = data["location"]
    fix = data["fix"]
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
        fix=None if fix is None else _read_fix(fix),
    )


def _read_fix(data: Mapping[str, Any]) -> Fix:
    return Fix(span=_read_span(data), replacement=data["replacement"], safety=FixSafety(data["safety"]))


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
