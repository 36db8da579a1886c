"""The last line: how much was found, or what was looked at where nothing was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from whygrad.diagnostics import Severity
from whygrad.report.remarks import name_some
from whygrad.report.report_data import ReportData
from whygrad.source import shown_file

_LONGEST: Final = 200  # characters of an exception's text: the traceback has all of it
_MOST_NAMED: Final = 3  # of names, in one line
_LOOKED_AT = {  # a count in `ReportData.run`, and the word for it
    "requests": "gradient computation",
    "updates": "update",
    "steps": "step",
    "variables": "variable",
    "files": "file",
}


def summary(report: ReportData) -> str:
    """What was found, and which part of the run was not watched."""
    missed = report.run.get("children_not_watched")
    found = _found(report) + ("; interrupted before its end" if report.run.get("interrupted") else "")
    silenced = report.run.get("silenced")
    if isinstance(silenced, int) and silenced > 0:
        found += f"; {_plural(silenced, 'finding')} silenced by comments in the code"
    if isinstance(missed, int) and missed > 0:
        found += f"; {_plural(missed, 'child process', 'child processes')} not watched"
    return found


def _found(report: ReportData) -> str:
    """`whygrad: 1 error, 2 warnings`, or what was looked at where there is nothing to say.

    A program that failed, or that was not watched to its end, is never said to have no problem.
    """
    if "error" in report.run and (report.worst or Severity.NOTE) < Severity.WARNING:
        found = f"{counts(report)}; " if report.diagnostics else ""
        return f"whygrad: {found}the program failed, and whygrad has nothing to add"
    if report.diagnostics:
        return f"whygrad: {counts(report)}"
    if report.run.get("watched") is False:
        return "whygrad: nothing was found, but the program was not watched to its end"
    if report.run.get("requests") == 0:
        return "whygrad: no gradient computation was seen: nothing to check"
    looked_at = ", ".join(
        _plural(count, noun)
        for key, noun in _LOOKED_AT.items()
        if isinstance(count := report.run.get(key), int) and count > 0
    )
    return f"whygrad: {counts(report)}{f' in {looked_at}' if looked_at else ''}{_idle(report)}"


def _idle(report: ReportData) -> str:
    """The variables that a loss uses and nothing trains: it may be meant, so it is no finding."""
    names = report.run.get("untrained")
    if not isinstance(names, list):
        return ""
    return f"; {len(names)} {'is' if len(names) == 1 else 'are'} used but not trained: {name_some(names, _MOST_NAMED)}"


def failing(report: ReportData) -> str | None:
    """What ended the program: `failed with ValueError at train.py:3: ...`; None where nothing did."""
    error = report.run.get("error")
    if not isinstance(error, Mapping):
        return None
    where, said = error.get("location"), str(error["message"]).strip().splitlines()
    at = f" at {shown_file(where['file'])}:{where['line']}" if isinstance(where, Mapping) else ""
    words = _gist([line.strip() for line in said if any(map(str.isalnum, line)) and "[[{{node" not in line])
    return f"failed with {error['type']}{at}: {words[:_LONGEST]}{'...' if len(words) > _LONGEST else ''}"


def _gist(said: list[str]) -> str:
    """The line that says most: the first, or the last where the first only announces it."""
    announces = len(said) > 1 and said[0].endswith(":") and ". " not in said[0]
    return said[-1] if announces else "".join(said[:1])


def counts(report: ReportData) -> str:
    """`1 error, 2 warnings`, or `no problem found`."""
    found = Counter(diagnostic.severity for diagnostic in report.diagnostics)
    worst_first = sorted(Severity, reverse=True)
    return ", ".join(_plural(found[s], s.label) for s in worst_first if found[s]) or "no problem found"


def _plural(count: int, noun: str, several: str = "") -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {several or noun + 's'}"
