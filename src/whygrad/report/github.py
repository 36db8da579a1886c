"""Annotations for GitHub Actions: workflow commands on standard output."""

from __future__ import annotations

from whygrad.diagnostics import Diagnostic, Severity
from whygrad.report.remarks import edits_shown, headline, place, remarks
from whygrad.report.report_data import ReportData
from whygrad.source import SourceSpan, is_on_disk, notebook_of, shown_file

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render_github(report: ReportData) -> str:
    """One line for each diagnostic; nothing where nothing was found."""
    return "\n".join(_annotation(diagnostic) for diagnostic in report.diagnostics)


def _annotation(diagnostic: Diagnostic) -> str:
    span = None if diagnostic.primary is None else diagnostic.primary.span
    properties = {**_place(span), "title": f"whygrad {diagnostic.code} ({diagnostic.rule})"}
    written = ",".join(f"{key}={escape_property(value)}" for key, value in properties.items())
    return f"::{_COMMANDS[diagnostic.severity]} {written}::{escape_data(_message(diagnostic, span))}"


def _place(span: SourceSpan | None) -> dict[str, str]:
    notebook = None if span is None else notebook_of(span.file)
    if notebook is not None:  # the lines of a cell are not those of the file; the message has them
        return {"file": shown_file(notebook[0]), "line": "1"}
    if span is None or not is_on_disk(span.file):
        return {}
    found = {"file": shown_file(span.file), "line": str(span.line), "endLine": str(max(span.last_line, span.line))}
    # GitHub drops an annotation that has columns and spans several lines.
    if span.column is not None and span.last_line <= span.line:
        found["col"] = str(span.column + 1)
        if span.end_column is not None:
            found["endColumn"] = str(span.end_column + 1)
    return found


def _message(diagnostic: Diagnostic, span: SourceSpan | None) -> str:
    lines = [headline(diagnostic)]
    if span is not None and diagnostic.primary is not None and diagnostic.primary.text:
        lines.append(f"{place(span)}: {diagnostic.primary.text}")
    lines += (f"{remark.kind}: {remark.text}" for remark in remarks(diagnostic))
    lines += (f"fix: {fix.title}\n{edits_shown(fix)}" for fix in diagnostic.fixes[:1])
    return "\n".join(lines)


def escape_data(text: str) -> str:
    """As the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """As the value of a property, where `:` and `,` mean something too."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")
