"""What was found in one file."""

from __future__ import annotations

from dataclasses import dataclass, field

from whygrad.diagnostics import Diagnostic


@dataclass(frozen=True, slots=True)
class Checked:
    """`sources` are texts that are not on disk: the cells of a notebook; `needs` are other files that were read."""

    diagnostics: tuple[Diagnostic, ...] = ()
    sources: dict[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
