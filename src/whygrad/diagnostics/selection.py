"""Which rules are wanted: `WG1` (a family), `WG101` (a code) or `stop-gradient` (a name).

And where they are not: `# whygrad: ignore[rule-name]` on a line of the user's code.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from whygrad.diagnostics.diagnostic import Diagnostic
from whygrad.errors import UsageError
from whygrad.source import source_line

# Not `ignored`, not `ignore-this`, no bracket left open: a slip in the comment must not silence everything.
_COMMENT = re.compile(r"#\s*whygrad:\s*ignore(?![\w-])(?:\s*\[(?P<rules>[^\]\[]*)\]|(?!\s*\[))")
_CODE_PREFIX = re.compile(r"W[GL]\d{0,3}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Selection:
    """`select` empty: all rules. `ignore` wins."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def admits(self, code: str, rule: str) -> bool:
        wanted = not self.select or any(matches(word, code, rule) for word in self.select)
        return wanted and not any(matches(word, code, rule) for word in self.ignore)


def parse_selection(select: Iterable[str], ignore: Iterable[str], known: Iterable[tuple[str, str]]) -> Selection:
    """Check every word against the known (code, name) pairs; an unknown one is a UsageError."""
    pairs = tuple(known)
    selection = Selection(tuple(_words(select)), tuple(_words(ignore)))
    for word in (*selection.select, *selection.ignore):
        if not any(matches(word, code, rule) for code, rule in pairs):
            raise UsageError(f"unknown rule `{word}`", help=_advice(word, pairs))
    return selection


def matches(word: str, code: str, rule: str) -> bool:
    """Whether one word of a selection, or of a comment in the code, means this rule."""
    if word.lower() == rule:
        return True
    return _CODE_PREFIX.fullmatch(word) is not None and code.startswith(word.upper())


def _words(texts: Iterable[str]) -> Iterable[str]:
    return (word for text in texts for word in re.split(r"[,\s]+", text) if word)


def nearest(word: str, known: Iterable[tuple[str, str]]) -> str | None:
    """The code or name that a word was probably meant to be; a code that is not there is as near to all others."""
    if re.fullmatch(r"W[GL]\d+", word, re.IGNORECASE):
        return None
    names = [name for pair in known for name in pair]
    near = [*difflib.get_close_matches(word.lower(), names), *difflib.get_close_matches(word.upper(), names)]
    return next(iter(near), None)


def _advice(word: str, pairs: Iterable[tuple[str, str]]) -> str:
    near = nearest(word, pairs)
    listing = "`whygrad rules` lists the codes and names"
    return f"did you mean `{near}`? {listing}" if near else listing


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
    if diagnostic.primary is None:
        return False
    span = diagnostic.primary.span
    lines = (source_line(span.file, number) for number in range(span.line, span.last_line + 1))
    ignored = [rules for line in lines if (rules := ignored_rules(line or "")) is not None]
    return any(not rules or any(matches(w, diagnostic.code, diagnostic.rule) for w in rules) for rules in ignored)
