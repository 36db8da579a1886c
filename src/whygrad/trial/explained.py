"""`whygrad.explain` with fixes that can be tried: `report.fixes[0].verify()` runs the step again, changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from html import escape
from typing import Any

from whygrad.diagnostics import Diagnostic, Fix
from whygrad.errors import UsageError
from whygrad.graph import Recording
from whygrad.report import Report
from whygrad.source.editing import EditError, FileText, edited
from whygrad.trial.changes import Changes
from whygrad.trial.replaced_code import replaced_code
from whygrad.trial.sighting import Ending, Sighting, gradient_states
from whygrad.trial.verdict import Verdict, judge
from whygrad.watch import check_step, explained

Step = Callable[[], tuple[Report, Recording]]


def explain(step: Callable[..., Any], *args: Any, terms: bool = False, **kwargs: Any) -> ExplainedReport:
    """Run a training step once under capture and say which gradients are missing, and why.

    An exception of the step is part of the explanation: it is `report.error`, and `report.reraise()` raises it.
    `terms`: the report shows, too, how much each term of the loss gives to each layer. `report.fixes` are changes that
    may help; `report.fixes[0].verify()` runs the step once more with the first, and says what became of it.
    """
    check_step(step)
    report, recording = explained(step, *args, terms=terms, **kwargs)
    found = ExplainedReport(**{each.name: getattr(report, each.name) for each in fields(report)})
    plain = getattr(step, "python_function", step)  # a compiled step would go on with what it has traced
    object.__setattr__(found, "_seen", _sighting(report, recording))
    object.__setattr__(found, "_again", lambda: explained(plain, *args, **kwargs))
    return found


class ExplainedReport(Report):
    """A report on a step that can be run again."""

    _seen: Sighting
    _again: Step

    @property
    def fixes(self) -> tuple[OfferedFix, ...]:
        """The changes that may remove what was found, of the worst finding first; none of them has been tried."""
        return tuple(OfferedFix(each, fix, self) for each in self.diagnostics for fix in each.fixes)


@dataclass(frozen=True, slots=True)
class OfferedFix:
    """A change of the user's text that may remove a finding."""

    finding: Diagnostic
    fix: Fix
    report: ExplainedReport

    @property
    def title(self) -> str:
        return self.fix.title

    @property
    def diff(self) -> str:
        return self._changes().diff()

    def verify(self) -> VerifiedFix:
        """Run the step once more with this change in its functions; what it does to variables, it does again.

        Only functions can be changed in a program that runs: for all else there is `whygrad fix`.
        """
        changes = self._changes()
        with replaced_code(changes.texts):
            report, recording = self.report._again()
        verdict = judge(self.report._seen, _sighting(report, recording), self.finding)
        return VerifiedFix(self.title, changes.diff(), verdict)

    def _changes(self) -> Changes:
        sources, texts = self.report.sources, dict[str, str]()
        for edit in self.fix.edits:
            own = [(each.span, each.text) for each in self.fix.edits if each.span.file == edit.span.file]
            try:
                texts[edit.span.file] = edited(f"{sources[edit.span.file]}\n", own)
            except (EditError, KeyError) as error:
                raise UsageError(f"the changed text cannot be made: {error}") from error
        return Changes({file: FileText(f"{sources[file]}\n") for file in texts}, texts)

    def __str__(self) -> str:
        return f"{self.title} (not tried)\n\n{self.diff}"

    def _repr_html_(self) -> str:
        return _html(self.title, "not tried: `.verify()` runs the step with it", (), self.diff)


@dataclass(frozen=True, slots=True)
class VerifiedFix:
    """A change that was run, and what was seen."""

    title: str
    diff: str
    verdict: Verdict

    @property
    def is_verified(self) -> bool:
        return self.verdict.is_verified

    def __bool__(self) -> bool:
        return self.is_verified

    def __str__(self) -> str:
        said = self.verdict.evidence if self.is_verified else self.verdict.against
        lines = "".join(f"  {each}\n" for each in said)
        return f"{self.title}\n{'verified' if self.is_verified else 'not verified'}:\n{lines}\n{self.diff}"

    def _repr_html_(self) -> str:
        said = self.verdict.evidence if self.is_verified else self.verdict.against
        return _html(self.title, "verified" if self.is_verified else "not verified", said, self.diff)


def _html(title: str, state: str, said: tuple[str, ...], diff: str) -> str:
    """A piece of a notebook: what it is, what was seen, the diff with its lines in the colours of the page."""
    items = "".join(f"<li>{escape(each)}</li>" for each in said)
    colors = {"+": "#2e7d32", "-": "#c62828", "@": "#1c8ca8"}
    lines = (
        f"<span style='color:{colors[line[:1]]}'>{escape(line)}</span>" if line[:1] in colors else escape(line)
        for line in diff.splitlines()
    )
    body = "\n".join(lines)
    return (
        f"<div class='whygrad'><p><b>{escape(title)}</b> ({escape(state)})</p><ul>{items}</ul><pre>{body}</pre></div>"
    )


def _sighting(report: Report, recording: Recording) -> Sighting:
    error = "" if report.error is None else f"{type(report.error).__name__}: {report.error}"
    return Sighting(
        diagnostics=report.diagnostics,
        gradients=gradient_states(recording),
        ending=Ending(status=int(bool(error)), error=error),
        steps=sum(request.times for request in recording.requests),
        sources=report.sources,
    )
