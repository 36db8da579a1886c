"""Which rules are wanted: `WG1` (a family), `WG101` (a code) or `stop-gradient` (a name)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from whygrad.errors import UsageError

_CODE_PREFIX = re.compile(r"W[GL]\d{0,3}")


@dataclass(frozen=True, slots=True)
class Selection:
    """`select` empty: all rules. `ignore` wins."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def admits(self, code: str, rule: str) -> bool:
        wanted = not self.select or any(_matches(word, code, rule) for word in self.select)
        return wanted and not any(_matches(word, code, rule) for word in self.ignore)


def parse_selection(select: Iterable[str], ignore: Iterable[str], known: Iterable[tuple[str, str]]) -> Selection:
    """Check every word against the known (code, name) pairs; an unknown one is a UsageError."""
    pairs = tuple(known)
    selection = Selection(tuple(_words(select)), tuple(_words(ignore)))
    for word in (*selection.select, *selection.ignore):
        if not any(_matches(word, code, rule) for code, rule in pairs):
            raise UsageError(f"unknown rule `{word}`", help="`whygrad rules` lists the codes and names")
    return selection


def _words(texts: Iterable[str]) -> Iterable[str]:
    return (word for text in texts for word in re.split(r"[,\s]+", text) if word)


def _matches(word: str, code: str, rule: str) -> bool:
    return word == rule or (_CODE_PREFIX.fullmatch(word) is not None and code.startswith(word))
