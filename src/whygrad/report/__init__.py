"""Diagnostics -> text, JSON, SARIF, GitHub, HTML. Renderers take data, return text, decide nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from whygrad.diagnostics import Diagnostic
from whygrad.errors import UsageError
from whygrad.report.report import Report
from whygrad.report.report_data import LossReach, TermReach
from whygrad.report.terminal import terminal_width, wants_color, write_report

if TYPE_CHECKING:
    from whygrad.report.sarif import RuleInfo

FORMATS = ("text", "concise", "json", "sarif", "github", "html")

__all__ = [
    "FORMATS",
    "LossReach",
    "Report",
    "TermReach",
    "render",
    "render_diagnostic",
    "terminal_width",
    "wants_color",
    "write_report",
]


def render(
    report: Report,
    format: str = "text",
    *,
    color: bool = False,
    width: int = 100,
    rules: Iterable[RuleInfo] = (),
) -> str:
    """The report in one of `FORMATS`, without a final line end.

    `color` and `width` are for text; `rules` describe themselves in SARIF.
    """
    # Each renderer is imported when it is used: JSON should not pay for the terminal.
    match format:
        case "text":
            from whygrad.report.text import render_text

            return render_text(report, color=color, width=width)
        case "concise":
            from whygrad.report.text import render_concise

            return render_concise(report, color=color)
        case "json":
            return report.to_json()
        case "sarif":
            from whygrad.report.sarif import render_sarif

            return render_sarif(report, rules=rules)
        case "github":
            from whygrad.report.github import render_github

            return render_github(report)
        case "html":
            from whygrad.report.html import document

            return document(report)
        case _:
            raise UsageError(f"unknown output format `{format}`", help=f"one of: {', '.join(FORMATS)}")


def render_diagnostic(diagnostic: Diagnostic, *, color: bool = False, width: int = 100) -> str:
    """One diagnostic as text, as it is shown while the run goes on; without a final line end."""
    from whygrad.report import text

    return text.render_diagnostic(diagnostic, color=color, width=width)
