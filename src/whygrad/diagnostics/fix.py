"""A change of the user's text that should remove a finding: what it is, not whether it helps."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from whygrad.source import SourceSpan


class FixSafety(StrEnum):
    """`safe`: all else that is computed stays; `unsafe`: values change; `display-only`: to be read, not tried."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY_ONLY = "display-only"


@dataclass(frozen=True, slots=True)
class Edit:
    """A stretch of source and the text that replaces it; an empty stretch is a place to insert at."""

    span: SourceSpan  # with columns
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """Edits that belong together, none of which overlaps another."""

    title: str  # one action, as `help` words it
    edits: tuple[Edit, ...]
    safety: FixSafety = FixSafety.UNSAFE
