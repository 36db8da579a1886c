"""What a rewrite makes of a text: the place is the piece between `«` and `»`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from textwrap import dedent
from typing import Any

from whygrad.backends import modules_of, words_of
from whygrad.diagnostics import Fix
from whygrad.fixes.spelling import spelled
from whygrad.source import SourceSpan, texts_of
from whygrad.source.editing import edited

_numbers = itertools.count()


def rewritten(code: str, rewrite: Callable[..., Iterable[Fix]], *arguments: Any, **options: Any) -> list[str]:
    """The texts after each fix that a rewrite offers for the marked places, which are its first arguments."""
    text, places = _marked(dedent(code).lstrip("\n"))
    file = f"<text {next(_numbers)}>"
    spans = [SourceSpan(file, *place) for place in places]
    with texts_of({file: text}):
        fixes = list(spelled(rewrite(*spans, *arguments, **options), words_of("tensorflow"), modules_of("tensorflow")))
        return [edited(text, [(edit.span, edit.text) for edit in fix.edits]) for fix in fixes]


def first(code: str, rewrite: Callable[..., Iterable[Fix]], *arguments: Any, **options: Any) -> str:
    """The text after the first fix."""
    return rewritten(code, rewrite, *arguments, **options)[0]


def _marked(code: str) -> tuple[str, list[tuple[int, int, int, int]]]:
    """The text without marks, and the places: those marked later in the text come later."""
    places, begun, text, line, column = list[tuple[int, int, int, int]](), list[tuple[int, int]](), "", 1, 0
    for character in code:
        if character == "«":
            begun.append((line, column))
        elif character == "»":
            places.append((*begun.pop(), line, column))
        else:
            text += character
            line, column = (line + 1, 0) if character == "\n" else (line, column + 1)
    return text, sorted(places)
