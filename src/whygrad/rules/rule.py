"""What a rule is: a pure function over a recording, whose docstring is its published page."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from whygrad.diagnostics import Fix, Said, Severity
from whygrad.graph import Recording

Check = Callable[[Recording], Iterable["Finding"]]

FAMILIES = {
    "WG1": "no gradient",
    "WG2": "the wrong variables",
    "WG3": "zero or odd gradient",
    "WG4": "NaN and Inf",
    "WG5": "accumulation",
    "WG6": "changing variables",
    "WG7": "the wrong loss",
    "WG8": "it does not learn",
}
HEADINGS = ("Why it matters", "Example", "Use instead", "Known limits")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Said):
    """What a rule saw. `severity` None: the rule's own; `certain` False: inferred, and the message says so."""

    severity: Severity | None = None
    # the least intrusive first; built when asked for, worded as all texts are
    fixes: Callable[[], Iterable[Fix]] = tuple


@dataclass(frozen=True, slots=True)
class Rule:
    code: str
    name: str
    severity: Severity
    since: str
    check: Check

    @property
    def family(self) -> str:
        """`WG1`; its title is in `FAMILIES`."""
        return self.code[:3]

    @property
    def page(self) -> str:
        return inspect.cleandoc(self.check.__doc__ or "")

    @property
    def summary(self) -> str:
        return self.page.split("\n\n", 1)[0].replace("\n", " ")

    def section(self, heading: str) -> str:
        """The text under one `## heading` of the page."""
        match = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", self.page, re.MULTILINE | re.DOTALL)
        return match[1].strip() if match else ""

    def example(self, heading: str) -> str:
        """The fenced Python block under one heading."""
        match = re.search(r"```python\n(.*?)```", self.section(heading), re.DOTALL)
        return match[1] if match else ""


_REGISTRY: dict[str, Rule] = {}


def rule(code: str, name: str, *, severity: Severity, since: str) -> Callable[[Check], Check]:
    """Register the decorated function; codes and names are never reused."""

    def register(check: Check) -> Check:
        if code in _REGISTRY or any(known.name == name for known in _REGISTRY.values()):
            raise ValueError(f"rule {code} {name} is registered twice")
        _REGISTRY[code] = Rule(code, name, severity, since, check)
        return check

    return register


def registered() -> tuple[Rule, ...]:
    return tuple(_REGISTRY[code] for code in sorted(_REGISTRY))
