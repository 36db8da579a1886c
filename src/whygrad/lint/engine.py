"""One text -> its diagnostics."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from whygrad.backends import FRAMEWORKS, api_of
from whygrad.diagnostics import Diagnostic, Label, Severity
from whygrad.source import SourceSpan
from whygrad.source.module import Module

_DEEPEST = 3_000  # frames of Python: an expression nested deeper than its parser allows is not met
_Parsed = TypeVar("_Parsed")


def check_text(file: str, text: str, *, needs: set[str] | None = None) -> list[Diagnostic]:
    """What is wrong in a text, with `file` as the place; a text that cannot be parsed is one finding.

    Where `file` is an absolute path, files of its project that it imports are read as well, and added to `needs`.
    """
    with _deep():
        module = attempt(file, lambda: Module(file, text))
    if isinstance(module, Diagnostic):
        return [module]
    found: list[Diagnostic] = []
    for framework in FRAMEWORKS:
        if any(word in text for word in api_of(framework).mentions):
            from whygrad.lint.asking import ask  # most files of a project may not need it

            with _deep():
                found += ask(module, framework, needs if needs is not None else set())
    return found


def attempt(file: str, parse: Callable[[], _Parsed]) -> _Parsed | Diagnostic:
    """What parsing gives, or what is wrong with the text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Python has to say about old spellings is not ours to say
            return parse()
    except SyntaxError as error:
        return unreadable(file, error.msg or "it does not parse", error.lineno or 1, error.offset)
    except (ValueError, RecursionError, MemoryError) as error:
        return unreadable(file, str(error) or type(error).__name__, 1, None)


def unreadable(file: str, reason: str, line: int, column: int | None) -> Diagnostic:
    span = SourceSpan(file, max(line, 1), None if column is None else max(column - 1, 0))
    return Diagnostic(
        code="WL000",
        rule="unreadable-file",
        severity=Severity.ERROR,
        message=f"this is not Python that can be read: {reason.splitlines()[0]}",
        primary=Label(span, ""),
        help="fix it; until then nothing in this file is checked",
    )


@contextmanager
def _deep() -> Iterator[None]:
    """Room for code that is nested deeply."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
