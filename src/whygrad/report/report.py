"""What one capture found, ready to be rendered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from whygrad.diagnostics import Diagnostic, Severity
from whygrad.source import SourceSpan


@dataclass(frozen=True, slots=True, kw_only=True)
class LossReach:
    """Which of the variables that were asked about one loss reaches."""

    loss: str  # the user's own expression for the target, or "loss"
    where: SourceSpan | None  # the gradient request
    reached: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    seen: int = 1


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Report:
    """Print it, `to_json()` it, or leave it as the last line of a notebook cell.

    The counts in `run` (`requests`, `updates`, `steps`, `variables`, `files`) are what the summary says was
    looked at where nothing was found.
    """

    diagnostics: tuple[Diagnostic, ...] = ()
    gradients: tuple[LossReach, ...] = ()
    run: Mapping[str, object] = field(default_factory=dict)  # script, versions, counts
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)  # texts to show excerpts from

    @property
    def worst(self) -> Severity | None:
        return max((d.severity for d in self.diagnostics), default=None)

    def to_json(self) -> str:
        """The report as JSON, of the published schema."""
        from whygrad.report.json import render_json

        return render_json(self)

    def __str__(self) -> str:
        from whygrad.report.text import render_text

        return render_text(self)

    def __repr__(self) -> str:
        from whygrad.report.summary import counts

        return f"<whygrad.Report: {counts(self)}>"

    def _repr_html_(self) -> str:
        from whygrad.report.html import fragment

        return fragment(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self._repr_html_()}
