"""What the page is told of a report: its verdict, findings as cards, which term reaches what, where NaN was born."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from whygrad.diagnostics import Diagnostic
from whygrad.graph import Recording
from whygrad.graph.nonfinite import Feeder, Nonfinite, ValueFacts
from whygrad.report.html import card, excerpt_at
from whygrad.report.json import plain, to_data
from whygrad.report.page.why import Confined
from whygrad.report.remarks import headline, place, title
from whygrad.report.report_data import ReportData
from whygrad.report.summary import failing, summary
from whygrad.source import texts_of


def report_view(report: ReportData) -> dict[str, Any]:
    """The Run view of a report that has no recorded steps."""
    return {
        "verdict": _verdict(report),
        "worst": None if report.worst is None else report.worst.label,
        "findings": findings(report.diagnostics, report.sources),
        "reach": to_data(report)["gradients"],
    }


def _verdict(report: ReportData) -> str:
    """One sentence: how much was found, and the worst of it."""
    worst = max(report.diagnostics, key=lambda each: each.severity, default=None)
    said = summary(report).removeprefix("whygrad: ") + ("" if worst is None else f": {headline(worst)}")
    return "; ".join(filter(None, [said, failing(report)]))


def findings(diagnostics: Iterable[Diagnostic], sources: Mapping[str, str]) -> list[dict[str, Any]]:
    """Each with its card as HTML in which all text is escaped."""
    with texts_of(sources):
        return [
            {
                "code": each.code,
                "rule": each.rule,
                "severity": each.severity.label,
                "title": title(each),
                "message": headline(each),
                "place": None if each.primary is None else place(each.primary.span),
                "variables": list(each.variables),
                "card": card(each),
            }
            for each in diagnostics
        ]


def nonfinite_view(recording: Recording) -> list[dict[str, Any]]:
    """Every NaN or Inf that was seen, with what went in, who is to blame and what it spread to."""
    with texts_of(Confined(recording.sources)):
        return [_nonfinite(recording, each) for each in recording.events_of(Nonfinite)]


def _nonfinite(recording: Recording, event: Nonfinite) -> dict[str, Any]:
    named = [recording.variables.get(each) for each in dict.fromkeys((*event.variables, *event.when.variables))]
    op = event.op
    return {
        "stage": event.stage.value,
        "step": event.when.step,
        "seen": event.when.seen,
        "of": event.when.of,
        "symptom": event.when.symptom,
        "loss_is_bad": event.when.loss_is_bad,
        "skipped": event.when.skipped,
        "exact": event.exact,
        "reason": event.reason,
        "place": None if event.where is None else place(event.where),
        "excerpt": "" if event.where is None else excerpt_at(event.where, primary=True),
        "op": None if op is None else op.name,
        "backward": op is not None and op.backward,
        "layer": "" if op is None else " › ".join(op.layers),
        "inputs": [] if op is None else [_values(each) for each in op.inputs],
        "fed_by": [] if op is None else [_feeder(each) for each in op.fed_by],
        "value": None if event.value is None else _values(event.value),
        "optimizer": None if event.update is None else event.update.optimizer,
        "rows": list(event.rows),
        "batch": event.batch,
        "variables": [each.name for each in named if each is not None],
    }


def _values(facts: ValueFacts) -> dict[str, Any]:
    found: dict[str, Any] = plain({**asdict(facts), "size": facts.size})
    return found


def _feeder(feeder: Feeder) -> dict[str, Any]:
    found: dict[str, Any] = plain(
        {
            "kind": str(feeder.action or feeder.kind),
            "place": None if feeder.where is None else place(feeder.where),
            "low": feeder.low,
            "high": feeder.high,
        }
    )
    return found
