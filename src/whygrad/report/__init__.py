"""Diagnostics -> text, JSON, SARIF, GitHub, HTML. Renderers take data, return text, decide nothing.

Here is also what the place that a report is written to can show.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, TextIO

from whygrad.diagnostics import Diagnostic
from whygrad.errors import UsageError
from whygrad.report.report import Report
from whygrad.report.report_data import LossReach, TermReach

if TYPE_CHECKING:
    from whygrad.report.sarif import RuleInfo

_DEFAULT_WIDTH = 100

FORMATS = ("text", "json", "sarif", "github", "html")

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
    width: int = _DEFAULT_WIDTH,
    omit: Collection[Diagnostic] = (),
    rules: Iterable[RuleInfo] = (),
) -> str:
    """The report in one of `FORMATS`, without a final line end.

    `color`, `width` and `omit`, what was shown already, are for text; `rules` describe themselves in SARIF.
    """
    # Each renderer is imported when it is used: JSON should not pay for the terminal.
    match format:
        case "text" if not color and report.is_empty:
            from whygrad.report.summary import summary

            return summary(report)
        case "text":
            from whygrad.report.text import render_text

            return render_text(report, color=color, width=width, omit=omit)
        case "json":
            return report.to_json()
        case "sarif":
            from whygrad.report.sarif import render_sarif

            return render_sarif(report, rules=rules)
        case "github":
            from whygrad.report.github import render_github

            return render_github(report)
        case "html":
            from whygrad.report.page import document

            return document(report)
        case _:
            raise UsageError(f"unknown output format `{format}`", help=f"one of: {', '.join(FORMATS)}")


def render_diagnostic(diagnostic: Diagnostic, *, color: bool = False, width: int = _DEFAULT_WIDTH) -> str:
    """One diagnostic as text, as it is shown while the run goes on; without a final line end."""
    from whygrad.report import text

    return text.render_diagnostic(diagnostic, color=color, width=width)


def wants_color(stream: TextIO) -> bool:
    """Colour on a terminal only; `NO_COLOR` forbids it, `FORCE_COLOR` asks for it in a pipe too."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return os.environ.get("TERM") != "dumb" and _is_terminal(stream)


def terminal_width(stream: TextIO) -> int:
    """The width of the terminal, or 100 where there is none; `COLUMNS` overrules both."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    if not _is_terminal(stream):
        return _DEFAULT_WIDTH
    try:
        return os.get_terminal_size(stream.fileno()).columns or _DEFAULT_WIDTH
    except (OSError, ValueError):
        return _DEFAULT_WIDTH


def write_report(stream: TextIO, text: str) -> None:
    """Write text and a line end; what the stream's encoding lacks is written as an escape, not raised."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(f"{text}\n".encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # replaced by something that is not a stream, or closed
        return False
