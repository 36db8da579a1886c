"""One file -> what is wrong in it, ignore comments taken into account."""

from __future__ import annotations

import re
from typing import Final

from whygrad.diagnostics import Diagnostic, Label, Severity, ignored_rules, is_suppressed
from whygrad.diagnostics.selection import matches
from whygrad.lint.engine import check_text
from whygrad.lint.files.checked import Checked
from whygrad.lint.files.reading import Source, broken_cells, read_source
from whygrad.source import SourceSpan

_COMMENT: Final = "whygrad: ignore"
_OWN: Final = re.compile(r"WL\d*", re.IGNORECASE)


def check_bytes(file: str, data: bytes) -> Checked:
    """What is wrong in a file with this content."""
    source = read_source(file, data)
    if isinstance(source, Diagnostic):
        return Checked((source,))
    needs: set[str] = set()
    found = check_text(file, source.text, needs=needs)
    found = [each for each in found if not (_is_elsewhere(each, file) and is_suppressed(each))]
    kept, used = _without_ignored(source, found)
    shown = [source.shown(each) for each in kept]
    shown += (source.shown(each) for each in _unused(source, used))
    shown += broken_cells(source)
    return Checked(tuple(shown), source.sources, tuple(sorted(needs)))


def _is_elsewhere(diagnostic: Diagnostic, file: str) -> bool:
    return diagnostic.primary is not None and diagnostic.primary.span.file != file


def _without_ignored(source: Source, found: list[Diagnostic]) -> tuple[list[Diagnostic], set[tuple[int, str]]]:
    """What no comment silences, and the words of comments that silenced something."""
    if _COMMENT not in source.text or not found:
        return found, set()
    lines = source.text.split("\n")
    kept, used = [], set[tuple[int, str]]()
    for each in found:
        silenced = False
        span = each.primary.span if each.primary is not None else None
        here = span is not None and span.file == source.file
        for number in range(span.line, span.last_line + 1) if span is not None and here else ():
            words = ignored_rules(lines[number - 1]) if number <= len(lines) else None
            if words is None:
                continue
            fitting = {word for word in words if matches(word, each.code, each.rule) or _as_static(word, each)}
            if not words or fitting:
                silenced = True
                used |= {(number, word) for word in fitting or {""}}
        if not silenced:
            kept.append(each)
    return kept, used


def _as_static(word: str, diagnostic: Diagnostic) -> bool:
    """`WG105` in a comment means its static twin as well."""
    return word.upper().startswith("WG") and matches("WL" + word[2:], diagnostic.code, diagnostic.rule)


def _unused(source: Source, used: set[tuple[int, str]]) -> list[Diagnostic]:
    """Comments that name rules of lint alone, and silence nothing. Others may be meant for a run."""
    if _COMMENT not in source.text:
        return []
    found = []
    for number, line in enumerate(source.text.split("\n"), 1):
        words = ignored_rules(line) if _COMMENT in line else None
        for word in sorted(words or ()):
            if _OWN.fullmatch(word) and (number, word) not in used:
                column = line.index(_COMMENT)
                span = SourceSpan(source.file, number, column, number, len(line))
                found.append(
                    Diagnostic(
                        code="WL001",
                        rule="unused-ignore",
                        severity=Severity.WARNING,
                        message=f"nothing here is silenced by `{word}`",
                        primary=Label(span, "this comment does nothing"),
                        help="remove it",
                    )
                )
    return found
