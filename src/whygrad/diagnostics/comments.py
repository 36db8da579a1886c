"""Comments that were meant to silence a rule, and do not: a name that no rule has, or nothing to silence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from whygrad.diagnostics.diagnostic import Diagnostic
from whygrad.diagnostics.selection import ignored_rules, matches, nearest
from whygrad.source import shown_file

_MEANT: Final = re.compile(r"#\s*whygrad:\s*\S")
_FOR_LINT: Final = re.compile(r"WL\d*", re.IGNORECASE)  # which says itself that one is not needed
_HOW: Final = "write `# whygrad: ignore[rule-name]`"


def comment_troubles(
    sources: Mapping[str, str], silenced: Iterable[Diagnostic], known: Iterable[tuple[str, str]], *, unused: bool
) -> Iterator[str]:
    """One sentence for each comment that does not do what it was written for; `unused`: also where nothing was found.

    The words of a comment are compared with all `known` rules (code, name), and with what was silenced at its line.
    """
    pairs, found = tuple(known), tuple(silenced)
    for file, text in sources.items():
        for number, line in enumerate(text.split("\n"), 1) if "whygrad:" in text else ():
            if _MEANT.search(line) is None:
                continue
            place = f"{shown_file(file)}:{number}"
            words = ignored_rules(line)
            if words is None:
                yield f"{place}: this comment silences nothing: {_HOW}"
                continue
            here = [each for each in found if _covers(each, file, number)]
            for word in sorted(words) or [""]:
                trouble = _trouble(word, here, pairs, unused=unused)
                if trouble:
                    yield f"{place}: {trouble}"


def _trouble(word: str, here: list[Diagnostic], known: tuple[tuple[str, str], ...], *, unused: bool) -> str:
    if not word:
        return "`ignore` silenced nothing in this run" if unused and not here else ""
    if _FOR_LINT.fullmatch(word):
        return ""
    if not any(matches(word, code, rule) for code, rule in known):
        near = nearest(word, known)
        return f"`ignore[{word}]` names no rule{f'; did you mean `{near}`?' if near else ''}"
    used = any(matches(word, each.code, each.rule) for each in here)
    return "" if used or not unused else f"`ignore[{word}]` silenced nothing in this run"


def _covers(diagnostic: Diagnostic, file: str, line: int) -> bool:
    span = None if diagnostic.primary is None else diagnostic.primary.span
    return span is not None and span.file == file and span.line <= line <= span.last_line
