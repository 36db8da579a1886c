"""The search for fixes that help: findings one after another, the root first, each change on top of the last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from whygrad.diagnostics import Diagnostic, Fix, FixSafety
from whygrad.errors import UsageError
from whygrad.trial.changes import Changes
from whygrad.trial.sighting import Sighting
from whygrad.trial.verdict import Verdict, judge, signature

RunChanged = Callable[[Changes], Sighting]
_DEPTH: Final = 4  # fixes that are put on top of one another for one finding, where each reveals the next
_CANDIDATES: Final = 4  # of one finding that are tried


@dataclass(frozen=True, slots=True)
class Attempt:
    """A finding, the fixes that were tried for it together, and what became of the program."""

    finding: Diagnostic
    fixes: tuple[Fix, ...]
    before: Changes
    after: Changes
    verdict: Verdict
    sighting: Sighting

    @property
    def diff(self) -> str:
        return self.after.diff(self.before)


def search(first: Sighting, run: RunChanged, accept: Callable[[Attempt], bool] = lambda _: True) -> Iterator[Attempt]:
    """Attempts as they are made; after one that is verified, and accepted, all further ones stand on it."""
    current, changes = first, Changes()
    given_up: set[tuple[str, str]] = set()
    while (finding := _next(current, given_up)) is not None:
        failed = list[Attempt]()
        for attempt in _candidates(current, changes, finding, run):
            if attempt.verdict.is_verified:
                yield attempt
                if accept(attempt):
                    current, changes = attempt.sighting, attempt.after
                else:
                    given_up.add(signature(current, finding))
                break
            failed.append(attempt)
        else:
            given_up.add(signature(current, finding))
            yield from failed[:1]


def _next(sighting: Sighting, given_up: set[tuple[str, str]]) -> Diagnostic | None:
    """The worst finding that has a fix; among equals one whose fix is safe, else the first, the root of a chain."""
    for diagnostic in sorted(sighting.loud, key=lambda each: (-each.severity, not _is_safe(each))):
        if _tried(diagnostic) and signature(sighting, diagnostic) not in given_up:
            return diagnostic
    return None


def _is_safe(diagnostic: Diagnostic) -> bool:
    return any(fix.safety is FixSafety.SAFE for fix in diagnostic.fixes[:1])


def _tried(diagnostic: Diagnostic) -> list[Fix]:
    return [fix for fix in diagnostic.fixes if fix.safety is not FixSafety.DISPLAY_ONLY][:_CANDIDATES]


def _candidates(current: Sighting, changes: Changes, finding: Diagnostic, run: RunChanged) -> Iterator[Attempt]:
    for fix in _tried(finding):
        try:
            changed = changes.with_fix(fix, current.sources)
        except UsageError as error:
            yield Attempt(finding, (fix,), changes, changes, Verdict((), (error.message,)), current)
            continue
        yield from _followed(current, changes, finding, (fix,), changed, run)


def _followed(
    current: Sighting, start: Changes, finding: Diagnostic, fixes: tuple[Fix, ...], changed: Changes, run: RunChanged
) -> Iterator[Attempt]:
    """A change, and where its finding is gone but others are revealed, those fixed on top of it."""
    after = run(changed)
    verdict = judge(current, after, finding)
    attempt = Attempt(finding, fixes, start, changed, verdict, after)
    nexts = [each for each in verdict.revealed if _tried(each)]
    if not verdict.is_verified and nexts and len(fixes) < _DEPTH:
        for fix in _tried(nexts[0])[:2]:
            try:
                further = changed.with_fix(fix, after.sources)
            except UsageError:
                continue
            for tried in _followed(current, start, finding, (*fixes, fix), further, run):
                if tried.verdict.is_verified:
                    yield tried
                    return
    yield attempt
