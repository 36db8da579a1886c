"""The form for programs. `schema.py` says what is in it; the names and their meaning are a contract."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from whygrad.diagnostics import Diagnostic, Fix
from whygrad.report.report_data import LossReach, ReportData, TermReach
from whygrad.source import SourceSpan

SCHEMA_VERSION = 1


def render_json(report: ReportData) -> str:
    """The report as JSON, all of it ASCII, so that any stream can take it."""
    return json.dumps(to_data(report), indent=2, allow_nan=False)


def to_data(report: ReportData) -> dict[str, Any]:
    """The report as dicts, lists, strings and numbers."""
    return {
        "schema_version": SCHEMA_VERSION,
        "run": plain(report.run),
        "diagnostics": [diagnostic_data(diagnostic) for diagnostic in report.diagnostics],
        "gradients": [_reach(reach) for reach in report.gradients],
    }


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


def diagnostic_data(diagnostic: Diagnostic) -> dict[str, Any]:
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
        "fixes": [fix_data(fix) for fix in diagnostic.fixes],
    }


def fix_data(fix: Fix) -> dict[str, Any]:
    edits = [{**location(edit.span), "replacement": edit.text} for edit in fix.edits]
    return {"title": fix.title, "safety": fix.safety.value, "edits": edits}


def _reach(reach: LossReach) -> dict[str, Any]:
    return {
        "loss": reach.loss,
        "location": None if reach.where is None else location(reach.where),
        "reached": list(reach.reached),
        "missing": list(reach.missing),
        "steps": reach.seen,
        "terms": [_term(term) for term in reach.terms],
    }


def _term(term: TermReach) -> dict[str, Any]:
    return {
        "term": term.term,
        "location": None if term.where is None else location(term.where),
        "reached": list(term.reached),
        "missing": list(term.missing),
        "penalty": term.is_penalty,
        "norms": plain(term.norms),
        "steps": term.steps,
    }
