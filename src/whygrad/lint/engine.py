"""One text -> its diagnostics."""

from __future__ import annotations

import ast
import gc
import importlib
import os
import pkgutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

from whygrad.backends import FRAMEWORKS, api_of, modules_of, words_of
from whygrad.backends.api import Api
from whygrad.diagnostics import Diagnostic, Fix, Label, Severity, Words, worded
from whygrad.lint import rules
from whygrad.lint.flow.walk import follow
from whygrad.lint.rules.check import CHECKS, CODES, Case, Check, Finding, diagnostics
from whygrad.source import SourceSpan, texts_of
from whygrad.source.module import Module

_DEEPEST = 3_000  # frames of Python: an expression nested deeper than its parser allows is not met


def check_text(file: str, text: str, *, needs: set[str] | None = None) -> list[Diagnostic]:
    """What is wrong in a text, with `file` as the place; a text that cannot be parsed is one finding.

    Where `file` is an absolute path, files of its project that it imports are read as well, and added to `needs`.
    """
    module = parse(file, text)
    if isinstance(module, Diagnostic):
        return [module]
    found: list[Diagnostic] = []
    for framework in FRAMEWORKS:
        api = api_of(framework)
        if any(word in text for word in api.mentions):
            words = words_of(framework)
            mend = Mending(file, text, framework)
            found += (_worded(each, words) for each in _check(module, api, mend, needs if needs is not None else set()))
    return found


def parse(file: str, text: str) -> Module | Diagnostic:
    """The parsed text, or what is wrong with it."""
    try:
        with _deep(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Python has to say about old spellings is not ours to say
            return Module(file, text)
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
        help="mend it; until then nothing in this file is checked",
    )


def _check(module: Module, api: Api, mend: Mending, needs: set[str]) -> list[Diagnostic]:
    with _deep(), _without_collecting():
        facts, others = follow(module.tree, api, module.file if os.path.isabs(module.file) else None)
        needs.update(others)
        case = Case(module, facts, api)
        return diagnostics(list(_findings(case)), mend)


class Mending:
    """The fixes of findings in one text; a rewrite that fails costs its fix, not the finding."""

    def __init__(self, file: str, text: str, framework: str) -> None:
        self._sources = {file: text}
        self._framework = framework

    def __call__(self, finding: Finding) -> tuple[Fix, ...]:
        from whygrad.fixes.spelling import spelled
        from whygrad.lint.fixing import fixes_of

        words, modules = words_of(self._framework), modules_of(self._framework)
        try:
            with texts_of(self._sources):
                return tuple(spelled(fixes_of(finding), words, modules))
        except Exception:
            return ()


def _findings(case: Case) -> Iterator[Finding]:
    for check, _ in all_checks():
        yield from check(case)


@cache
def all_checks() -> tuple[tuple[Check, tuple[str, ...]], ...]:
    """Every check; a new file in `rules` needs no second place."""
    for module in pkgutil.walk_packages(rules.__path__, prefix=f"{rules.__name__}."):
        importlib.import_module(module.name)
    return tuple(CHECKS)


def static_rules() -> dict[str, str]:
    """The names of all rules that lint knows, by code."""
    all_checks()
    own = {"WL000": "unreadable-file", "WL001": "unused-ignore", "WL002": "lint-failure"}
    return own | {code: name for name, code in sorted(CODES.items(), key=lambda each: each[1])}


def _worded(diagnostic: Diagnostic, words: Words) -> Diagnostic:
    def label(each: Label) -> Label:
        return Label(each.span, worded(each.text, words))

    return replace(
        diagnostic,
        message=worded(diagnostic.message, words),
        primary=None if diagnostic.primary is None else label(diagnostic.primary),
        related=tuple(map(label, diagnostic.related)),
        notes=tuple(worded(note, words) for note in diagnostic.notes),
        help=None if diagnostic.help is None else worded(diagnostic.help, words),
    )


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Many small objects are made, and nearly all are kept to the end: looking for garbage among them finds none."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def _deep() -> Iterator[None]:
    """Room for code that is nested deeply."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


__all__ = ["ast", "check_text"]
