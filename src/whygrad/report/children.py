"""One report of a program and its child processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from whygrad.diagnostics import Diagnostic
from whygrad.report.report import Report

_COUNTED = ("requests", "updates", "steps", "variables")


def with_children(report: Report, children: Iterable[Report], started: int) -> Report:
    """The report with what was found in children; what several processes say alike is said once."""
    reports = list(children)
    if not started:
        return report
    found = {_key(each): each for each in report.diagnostics}
    for each in (diagnostic for child in reports for diagnostic in child.diagnostics):
        found.setdefault(_key(each), replace(each, notes=(*each.notes, "in a child process")))
    runs = [each.run for each in (report, *reports)]
    counts = {name: sum(_count(run, name) for run in runs) for name in _COUNTED if name in report.run}
    return replace(
        report,
        diagnostics=tuple(sorted(found.values(), key=lambda each: -each.severity)),
        gradients=(*report.gradients, *(reach for child in reports for reach in child.gradients)),
        run={**report.run, **counts, "children": started, "children_not_watched": started - len(reports)},
        sources={**report.sources, **{file: text for child in reports for file, text in child.sources.items()}},
    )


def _key(diagnostic: Diagnostic) -> object:
    return diagnostic.code, diagnostic.message, diagnostic.primary


def _count(run: Mapping[str, object], name: str) -> int:
    count = run.get(name, 0)
    return count if isinstance(count, int) else 0
