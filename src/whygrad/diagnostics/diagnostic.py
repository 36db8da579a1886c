"""What a user is shown, as data. Renderers take a `Diagnostic` and decide nothing."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import IntEnum
from typing import Any

from whygrad.diagnostics.fix import Fix
from whygrad.source import SourceSpan


class Severity(IntEnum):
    """`error`: it does not do what the code says; `warning`: likely a mistake; `note`: worth knowing."""

    NOTE = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        return self.name.lower()

    @classmethod
    def parse(cls, text: str) -> Severity:
        return cls[text.upper()]


@dataclass(frozen=True, slots=True)
class Label:
    """What happens at one place."""

    span: SourceSpan
    text: str


@dataclass(frozen=True, slots=True)
class Steps:
    """In how many of the steps that could have shown it a finding was seen."""

    seen: int = 1
    of: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a rule says of something it found, and a user is shown as it is."""

    message: str
    primary: Label | None = None  # None: no frame of user code was on the stack
    variables: tuple[str, ...] = ()
    related: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None
    steps: Steps = field(default_factory=Steps)
    certain: bool = True

    def handed_on(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(Said)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic(Said):
    """One cause, however many variables and steps it touches."""

    code: str
    rule: str
    severity: Severity
    fixes: tuple[Fix, ...] = ()  # the least intrusive first
