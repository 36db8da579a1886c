"""Which rules are wanted: `WG1` (a family), `WG101` (a code) or `stop-gradient` (a name)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from whygrad.errors import UsageError

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


def _advice(word: str, pairs: Iterable[tuple[str, str]]) -> str:
    names = [name for pair in pairs for name in pair]
    near = [*difflib.get_close_matches(word.lower(), names), *difflib.get_close_matches(word.upper(), names)]
    listing = "`whygrad rules` lists the codes and names"
    return f"did you mean `{near[0]}`? {listing}" if near else listing
