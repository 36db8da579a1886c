"""`# whygrad: ignore[rule-name]` on a line of the user's code."""

from __future__ import annotations

import re

from whygrad.diagnostics.diagnostic import Diagnostic
from whygrad.source import SourceSpan, source_line

_COMMENT = re.compile(r"#\s*whygrad:\s*ignore(?:\[(?P<rules>[^\]]*)\])?")


def ignored_rules(text: str) -> frozenset[str] | None:
    """The rules a line's comment silences; an empty set silences all; None: no comment."""
    match = _COMMENT.search(text)
    if match is None:
        return None
    return frozenset(word for word in re.split(r"[,\s]+", match["rules"] or "") if word)


def is_suppressed(diagnostic: Diagnostic) -> bool:
    """Whether a comment on any line of the primary location silences this diagnostic."""
    return diagnostic.primary is not None and _silenced_at(diagnostic.primary.span, diagnostic)


def _silenced_at(span: SourceSpan, diagnostic: Diagnostic) -> bool:
    for number in range(span.line, span.last_line + 1):
        rules = ignored_rules(source_line(span.file, number) or "")
        if rules is not None and (not rules or {diagnostic.rule, diagnostic.code} & rules):
            return True
    return False
