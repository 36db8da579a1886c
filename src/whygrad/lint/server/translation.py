"""Diagnostics, fixes and places in the words of the language server protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lsprotocol import types

from whygrad.diagnostics import Diagnostic, Fix, FixSafety, Label, Severity
from whygrad.source import SourceSpan

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}


def diagnostic_of(diagnostic: Diagnostic, uri: str, lines: Sequence[str]) -> Any:
    """One finding, at its place in the open text."""
    assert diagnostic.primary is not None
    said = [diagnostic.message, *diagnostic.notes]
    if diagnostic.help is not None:
        said.append(f"help: {diagnostic.help}")
    return types.Diagnostic(
        range=range_of(diagnostic.primary.span, lines),
        message="\n".join(said),
        severity=_SEVERITIES[diagnostic.severity],
        code=diagnostic.code,
        source="whygrad",
        related_information=[_related(label, uri, lines) for label in diagnostic.related],
    )


def _related(label: Label, uri: str, lines: Sequence[str]) -> Any:
    place = types.Location(uri=uri, range=range_of(label.span, lines))
    return types.DiagnosticRelatedInformation(location=place, message=label.text)


def action_of(diagnostic: Diagnostic, fix: Fix, uri: str, lines: Sequence[str]) -> Any:
    """A quick fix; the first safe one is what an editor applies unasked."""
    edits = [types.TextEdit(range=range_of(edit.span, lines), new_text=edit.text) for edit in fix.edits]
    return types.CodeAction(
        title=fix.title if fix.safety is FixSafety.SAFE else f"{fix.title} (may change what is computed)",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic_of(diagnostic, uri, lines)],
        edit=types.WorkspaceEdit(changes={uri: edits}),
        is_preferred=fix.safety is FixSafety.SAFE,
    )


def range_of(span: SourceSpan, lines: Sequence[str]) -> Any:
    """Lines from 0, columns in units of UTF-16; the whole line where no column is known."""
    last = span.last_line
    start = 0 if span.column is None else _units(lines, span.line, span.column)
    known = span.end_column is not None and span.column is not None
    end = _units(lines, last, span.end_column if known and span.end_column is not None else 1 << 30)
    return types.Range(types.Position(span.line - 1, start), types.Position(last - 1, end))


def _units(lines: Sequence[str], line: int, column: int) -> int:
    text = lines[line - 1][:column] if line <= len(lines) else ""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def covers(span: SourceSpan, line: int) -> bool:
    """Whether a place is on a line, counted from 0 as editors do."""
    return span.contains_line(line + 1)
