"""One parsed file -> facts -> findings, in the words of its framework and with their fixes."""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Iterator
from functools import cache

from whygrad.backends import api_of, modules_of, words_of
from whygrad.diagnostics import Diagnostic, Fix, in_words
from whygrad.lint import rules
from whygrad.lint.flow.walk import follow
from whygrad.lint.rules.check import CHECKS, CODES, Case, Check, Finding, diagnostics
from whygrad.source import texts_of
from whygrad.source.module import Module, without_collecting


def ask(module: Module, framework: str, needs: set[str]) -> list[Diagnostic]:
    """What the rules find in a parsed file; the other files that were read for it are added to `needs`."""
    api, words = api_of(framework), words_of(framework)
    with without_collecting():
        facts, others = follow(module.tree, api, module.file if os.path.isabs(module.file) else None)
        needs.update(others)
        findings = list(_findings(Case(module, facts, api)))
        found = diagnostics(findings, module.file, Mending(module.file, module.text, framework))
        return [in_words(each, words) for each in found]


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
