"""Whether a change helped: the program before and after it, side by side."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from whygrad.diagnostics import Diagnostic
from whygrad.trial.sighting import GradientState, Sighting

_NOTHING = (None, GradientState.NONE, GradientState.ZERO)
_BAD = (GradientState.NONE, GradientState.NONFINITE)
_NONFINITE = "WG4"  # the family of rules about values that are not finite
_NAMED = 3  # variables that evidence lists by name


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was seen of a change: `against` says why it is not verified; empty: it is."""

    evidence: tuple[str, ...]
    against: tuple[str, ...] = ()
    revealed: tuple[Diagnostic, ...] = ()  # found only now that the finding itself is gone

    @property
    def is_verified(self) -> bool:
        return not self.against


def judge(before: Sighting, after: Sighting, finding: Diagnostic) -> Verdict:
    """The verdict on a change that was made for a finding of the run before."""
    new = _new(before, after, finding)
    still = [each for each in new if each.code == finding.code and _same_place(before, finding, after, each)]
    against = [*_against_ending(before, after), *_against_gradients(before, after, finding), *_against_loss(after)]
    against += [f"{each.code} is still found: {each.message}" for each in still]
    revealed = tuple(each for each in new if each not in still)
    against += [f"{each.code} is found now: {each.message}" for each in revealed]
    evidence = tuple(_evidence(before, after, finding, quiet=not new))
    return Verdict(evidence, tuple(against), () if still else revealed)


def signature(sighting: Sighting, diagnostic: Diagnostic) -> tuple[str, str]:
    """What a finding is known by in another run, where lines may have moved: its rule and the text of its line."""
    if diagnostic.primary is None:
        return diagnostic.code, diagnostic.message
    span = diagnostic.primary.span
    lines = sighting.sources.get(span.file, "").split("\n")
    return diagnostic.code, lines[span.line - 1].strip() if span.line <= len(lines) else ""


def _new(before: Sighting, after: Sighting, finding: Diagnostic) -> list[Diagnostic]:
    """The errors and warnings of the run after that were not in the one before, the finding itself not counted."""
    known = Counter(signature(before, each) for each in before.loud if each is not finding)
    found = []
    for diagnostic in after.loud:
        mark = signature(after, diagnostic)
        if known[mark] > 0:
            known[mark] -= 1
        else:
            found.append(diagnostic)
    return found


def _same_place(before: Sighting, finding: Diagnostic, after: Sighting, other: Diagnostic) -> bool:
    same_names = set(finding.variables) & set(other.variables) or not finding.variables
    return signature(before, finding) == signature(after, other) or bool(same_names and _same_start(finding, other))


def _same_start(one: Diagnostic, other: Diagnostic) -> bool:
    if one.primary is None or other.primary is None:
        return one.primary is other.primary
    here, there = one.primary.span, other.primary.span
    return (here.line, here.column) == (there.line, there.column)


def _against_ending(before: Sighting, after: Sighting) -> Iterator[str]:
    if not after.watched:
        yield "the changed program could not be watched"
    elif after.ending.late and not before.ending.late:
        yield "the changed program took too long"
    elif after.ending.status and not after.ending.is_like(before.ending):
        yield f"the changed program {after.ending.shown}"
    if before.steps and not after.steps:
        yield "the changed program asks for no gradient"


def _against_gradients(before: Sighting, after: Sighting, finding: Diagnostic) -> Iterator[str]:
    states = {name: after.gradients[name] for name in finding.variables if name in after.gradients}
    was = before.gradients.get
    lost = {name: state for name, state in states.items() if was(name) is not GradientState.GOOD}
    none_is_good = bool(states) and GradientState.GOOD not in states.values()
    zero_is_bad = not finding.code.startswith(_NONFINITE)  # zero is finite
    for name, state in lost.items():
        if state is GradientState.NONE:
            yield f"`{name}` still gets no gradient"
        elif state is GradientState.NONFINITE or (none_is_good and zero_is_bad and was(name) in _NOTHING):
            yield f"`{name}` still gets a gradient that is {state.value}"
    for name, state in after.gradients.items():
        if name not in finding.variables and was(name) is GradientState.GOOD and state in _BAD:
            yield f"`{name}` has lost its gradient"


def _against_loss(after: Sighting) -> Iterator[str]:
    if not all(map(math.isfinite, after.losses)):
        yield "the loss of the changed program is not finite"


def _evidence(before: Sighting, after: Sighting, finding: Diagnostic, *, quiet: bool) -> Iterator[str]:
    if quiet:
        yield f"{finding.code} is gone, and nothing new is found"
    healed: dict[GradientState, list[str]] = {}
    for name, state in after.gradients.items():
        was = before.gradients.get(name)
        if state is GradientState.GOOD and was is not None and was is not GradientState.GOOD:
            healed.setdefault(was, []).append(name)
    for was, names in healed.items():
        listed = ", ".join(f"`{name}`" for name in names[:_NAMED])
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        verb = "gets" if len(names) == 1 else "get"
        yield f"{listed}{more} {verb} a gradient that is finite and not zero (before: {was.value})"
    yield _endings(before, after)
    if before.losses and after.losses:
        count = min(len(before.losses), len(after.losses))
        shown = [f"{_number(losses[0])} to {_number(losses[count - 1])}" for losses in (before.losses, after.losses)]
        yield f"the loss over {_steps(count)}: before {shown[0]}, after {shown[1]}"


def _endings(before: Sighting, after: Sighting) -> str:
    steps = f" ({_steps(after.steps)})" if after.steps else ""
    if before.ending == after.ending:
        return f"the program {after.ending.shown} as before{steps}"
    return f"the program {after.ending.shown}{steps}; before, it {before.ending.shown}"


def _steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count} steps"


def _number(value: float) -> str:
    return f"{value:.4g}"
