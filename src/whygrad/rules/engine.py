"""Run the rules, stamp code and severity, merge, sort."""

from __future__ import annotations

from collections.abc import Iterable

from whygrad.diagnostics import Diagnostic, Selection, Severity, is_suppressed
from whygrad.graph import Recording
from whygrad.graph.query import without_collecting
from whygrad.rules.rule import Finding, Rule


def diagnose(recording: Recording, rules: Iterable[Rule], selection: Selection | None = None) -> tuple[Diagnostic, ...]:
    """All diagnostics of a recording, worst first, without those a comment in the code silences."""
    wanted = selection or Selection()
    with without_collecting():
        found = [
            _stamp(rule, finding)
            for rule in rules
            if wanted.admits(rule.code, rule.name)
            for finding in rule.check(recording)
        ]
    return tuple(sorted({d: None for d in found if not is_suppressed(d)}, key=_rank))


def _stamp(rule: Rule, finding: Finding) -> Diagnostic:
    severity = rule.severity if finding.severity is None else finding.severity
    if not finding.certain:
        severity = min(severity, Severity.WARNING)
    return Diagnostic(
        code=rule.code,
        rule=rule.name,
        severity=severity,
        message=finding.message,
        primary=finding.primary,
        variables=finding.variables,
        related=finding.related,
        notes=finding.notes,
        help=finding.help,
        steps=finding.steps,
        certain=finding.certain,
    )


def _rank(diagnostic: Diagnostic) -> tuple[int, str, int, str]:
    span = None if diagnostic.primary is None else diagnostic.primary.span
    return (
        -diagnostic.severity,
        "" if span is None else span.file,
        0 if span is None else span.line,
        diagnostic.code,
    )
