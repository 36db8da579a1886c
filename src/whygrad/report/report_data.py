"""What one capture found, as the renderers take it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from whygrad.diagnostics import Diagnostic, Severity
from whygrad.source import SourceSpan

if TYPE_CHECKING:
    from whygrad.graph import Recording


@dataclass(frozen=True, slots=True, kw_only=True)
class TermReach:
    """Which variables one term of a loss reaches; `missing` are those that its value depends on all the same."""

    term: str
    where: SourceSpan | None
    reached: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    is_penalty: bool = False  # a function of weights alone
    norms: Mapping[str, float] = field(default_factory=dict)  # variable -> root mean square of its gradient's norm
    steps: int = 0  # over which it was measured; 0: it was not


@dataclass(frozen=True, slots=True, kw_only=True)
class LossReach:
    """Which of the variables that were asked about one loss reaches."""

    loss: str  # the user's own expression for the target, or "loss"
    where: SourceSpan | None  # the gradient request
    reached: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    seen: int = 1
    terms: tuple[TermReach, ...] = ()  # of a loss that is a sum


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReportData:
    """The counts in `run` (`requests`, `updates`, `steps`, `variables`, `files`) are what the summary says was
    looked at where nothing was found; `error` in it is the exception that ended the program."""

    diagnostics: tuple[Diagnostic, ...] = ()
    gradients: tuple[LossReach, ...] = ()
    run: Mapping[str, object] = field(default_factory=dict)  # script, versions, counts
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)  # texts to show excerpts from
    error: BaseException | None = field(default=None, compare=False)  # that ended the code, where it ran here

    recording: Recording | None = field(default=None, compare=False)  # what the Why view of a page is drawn from

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show but the summary."""
        return not (self.diagnostics or self.gradients or self.run.get("comments") or self.run.get("error"))

    @property
    def worst(self) -> Severity | None:
        return max((d.severity for d in self.diagnostics), default=None)
