"""`# whygrad: ignore[rule-name]` on a line of the user's code."""

from __future__ import annotations

import re

from whygrad.diagnostics.diagnostic import Diagnostic
from whygrad.diagnostics.selector import matches
from whygrad.source import SourceSpan, source_line

# Not `ignored`, not `ignore-this`, no bracket left open: a slip in the comment must not silence everything.
_COMMENT = re.compile(r"#\s*whygrad:\s*ignore(?![\w-])(?:\s*\[(?P<rules>[^\]\[]*)\]|(?!\s*\[))")


def ignored_rules(text: str) -> frozenset[str] | None:
    """The rules a line's comment silences; an empty set: all; None: no comment, or one that names none."""
    match = _COMMENT.search(text)
    if match is None:
        return None
    if match["rules"] is None:
        return frozenset()
    return frozenset(word for word in re.split(r"[,\s]+", match["rules"]) if word) or None


def is_suppressed(diagnostic: Diagnostic) -> bool:
    """Whether a comment on any line of the primary location silences this diagnostic."""
    return diagnostic.primary is not None and _silenced_at(diagnostic.primary.span, diagnostic)


def _silenced_at(span: SourceSpan, diagnostic: Diagnostic) -> bool:
    for number in range(span.line, span.last_line + 1):
        rules = ignored_rules(source_line(span.file, number) or "")
        if rules is None:
            continue
        if not rules or any(matches(word, diagnostic.code, diagnostic.rule) for word in rules):
            return True
    return False
