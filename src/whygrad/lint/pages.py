"""The pages of static rules: those of the rules that a run asks, under a code of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from whygrad.diagnostics import Severity
from whygrad.lint.asking import static_rules
from whygrad.rules import all_rules

_ONLY_HERE: Final = {
    "WL000": (
        "unreadable-file",
        Severity.ERROR,
        "Detects files that cannot be read as Python: a syntax error, another encoding, null bytes.\n\n"
        "Nothing in such a file is checked, but all others are.",
    ),
    "WL001": (
        "unused-ignore",
        Severity.WARNING,
        "Detects comments that silence nothing: `# whygrad: ignore[WL105]` where `WL105` finds nothing.\n\n"
        "Only codes of lint are looked at; a name may be meant for a run.",
    ),
    "WL901": (
        "tape-kept",
        Severity.NOTE,
        "Detects persistent tapes of a script that are never deleted.\n\n"
        "A persistent tape keeps every tensor that it recorded for as long as something holds the tape: in a script "
        "that is until its name is reassigned. `del tape` after the last gradient gives the memory back. In a "
        "function the tape goes with the call.",
    ),
    "WL902": (
        "gradient-inside-tape",
        Severity.NOTE,
        "Detects gradients that are asked for inside of the block of their own tape.\n\n"
        "The tape then records the backward pass as well, which costs time and memory. It is right where the gradient "
        "itself is differentiated again.",
    ),
    "WL903": (
        "sum-by-concatenation",
        Severity.NOTE,
        "Detects sums and norms of all gradients that are computed from one long copy of them.\n\n"
        "`wg.summarize(gradients, variables)` has sums, norms and extremes by variable, layer or group without it.",
    ),
    "WL002": ("lint-failure", Severity.NOTE, "Says that whygrad itself failed on a file. The other files are checked."),
}


@dataclass(frozen=True, slots=True)
class StaticRule:
    """A rule of lint as it is published."""

    code: str
    name: str
    severity: Severity
    page: str

    @property
    def summary(self) -> str:
        return self.page.split("\n\n", 1)[0].replace("\n", " ")


def static_pages() -> tuple[StaticRule, ...]:
    """Every rule of lint, by code."""
    twins = {rule.name: rule for rule in all_rules()}
    found = [StaticRule(code, name, severity, page) for code, (name, severity, page) in _ONLY_HERE.items()]
    for code, name in static_rules().items():
        if name in twins and code not in _ONLY_HERE:
            found.append(StaticRule(code, name, twins[name].severity, twins[name].page))
    return tuple(sorted(found, key=lambda each: each.code))
