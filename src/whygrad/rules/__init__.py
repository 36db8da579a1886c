"""Graph -> findings. `all_rules` imports every file of the families, so a new rule needs no second place."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterable

from whygrad.diagnostics import Selection, parse_selection
from whygrad.rules.engine import diagnose, diagnose_apart
from whygrad.rules.rule import FAMILIES, Finding, Rule, registered


@functools.cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, by code."""
    for module in pkgutil.walk_packages(__path__, prefix=f"{__name__}."):
        importlib.import_module(module.name)
    return registered()


def find_rule(word: str) -> Rule | None:
    """A rule by its code or its name."""
    return next((rule for rule in all_rules() if word.lower() in (rule.code.lower(), rule.name)), None)


def selection_of(select: Iterable[str], ignore: Iterable[str]) -> Selection:
    """Which of the rules are wanted; a word that means none of them is a UsageError."""
    return parse_selection(select, ignore, [(rule.code, rule.name) for rule in all_rules()])


__all__ = ["FAMILIES", "Finding", "Rule", "all_rules", "diagnose", "diagnose_apart", "find_rule", "selection_of"]
