"""The last line: how much was found, or what was looked at where nothing was."""

from __future__ import annotations

from collections import Counter

from whygrad.diagnostics import Severity
from whygrad.report.report_data import ReportData

_LOOKED_AT = {  # a count in `ReportData.run`, and the word for it
    "requests": "gradient request",
    "updates": "update",
    "steps": "step",
    "variables": "variable",
    "files": "file",
}


def summary(report: ReportData) -> str:
    """`whygrad: 1 error, 2 warnings`, or what was looked at where there is nothing to say."""
    if report.diagnostics:
        return f"whygrad: {counts(report)}"
    if report.run.get("requests") == 0:
        return "whygrad: no problem found, but no gradient was asked for either"
    looked_at = ", ".join(
        _plural(count, noun)
        for key, noun in _LOOKED_AT.items()
        if isinstance(count := report.run.get(key), int) and count > 0
    )
    return f"whygrad: {counts(report)}{f' in {looked_at}' if looked_at else ''}"


def counts(report: ReportData) -> str:
    """`1 error, 2 warnings`, or `no problem found`."""
    found = Counter(diagnostic.severity for diagnostic in report.diagnostics)
    worst_first = sorted(Severity, reverse=True)
    return ", ".join(_plural(found[s], s.label) for s in worst_first if found[s]) or "no problem found"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
