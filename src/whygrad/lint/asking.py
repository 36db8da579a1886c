"""One parsed file -> facts -> findings, in the words of its framework and with their fixes."""

from __future__ import annotations

import importlib
import os
import pkgutil
from functools import cache, partial

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
        case = Case(module, facts, api)
        findings = [each for check in all_checks() for each in check(case)]
        found = diagnostics(findings, module.file, partial(_fixes, module, framework))
        return [in_words(each, words) for each in found]


def _fixes(module: Module, framework: str, finding: Finding) -> tuple[Fix, ...]:
    """The fixes of a finding; a rewrite that fails costs its fix, not the finding."""
    from whygrad.fixes.spelling import spelled
    from whygrad.lint.fixing import fixes_of

    try:
        with texts_of({module.file: module.text}):
            return tuple(spelled(fixes_of(finding), words_of(framework), modules_of(framework)))
    except Exception:
        return ()


@cache
def all_checks() -> tuple[Check, ...]:
    """Every check; a new file in `rules` needs no second place."""
    for module in pkgutil.walk_packages(rules.__path__, prefix=f"{rules.__name__}."):
        importlib.import_module(module.name)
    return tuple(CHECKS)


def static_rules() -> dict[str, str]:
    """The names of all rules that lint knows, by code."""
    all_checks()
    own = {"WL000": "unreadable-file", "WL001": "unused-ignore", "WL002": "lint-failure"}
    return own | {code: name for name, code in sorted(CODES.items(), key=lambda each: each[1])}
