"""What one run of a program showed, as data that one process tells another."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from whygrad.diagnostics import Diagnostic, Severity
from whygrad.graph import Outcome, Recording, Request, Source
from whygrad.graph.dataclass_json import from_plain, to_plain
from whygrad.rules.wording import name_of
from whygrad.source import texts_of

_FURTHER: Final = 8  # steps


class GradientState(StrEnum):
    """What a variable got, at best."""

    NONE = "none"
    ZERO = "zero"
    NONFINITE = "not finite"
    GOOD = "finite and not zero"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a run ended; `error` is the type and text of what it did not catch."""

    status: int = 0
    error: str = ""
    stopped: bool = False  # by us, before it had ended
    late: bool = False  # it was ended because it took too long

    def is_like(self, other: Ending) -> bool:
        """Whether both ended by themselves in the same way."""
        return (self.error, self.status) == (other.error, other.status)

    @property
    def shown(self) -> str:
        if self.late:
            return "was stopped because it took too long"
        if self.stopped:
            return "was stopped after enough steps"
        if self.error:
            return f"ended with {self.error}"
        return "ran to its end" if self.status == 0 else f"ended with status {self.status}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """One run: what was found in it, what each variable got, how it ended."""

    diagnostics: tuple[Diagnostic, ...] = ()
    gradients: Mapping[str, GradientState] = field(default_factory=dict)
    ending: Ending = field(default_factory=Ending)
    steps: int = 0  # gradients that were asked for
    losses: tuple[float, ...] = ()  # the first few, where the program is not compiled
    sources: Mapping[str, str] = field(default_factory=dict)  # the text of each file that a finding speaks of
    watched: bool = True

    @property
    def enough(self) -> int | None:
        """The steps that a changed program is run for, a few more where it broke off; None: to its end."""
        if self.ending.error:
            return self.steps + _FURTHER
        return self.steps if self.ending.stopped and not self.ending.late else None

    @property
    def loud(self) -> tuple[Diagnostic, ...]:
        """Errors and warnings."""
        return tuple(each for each in self.diagnostics if each.severity > Severity.NOTE)


def dump(sighting: Sighting) -> str:
    return json.dumps(to_plain(sighting))


def load(text: str) -> Sighting:
    return from_plain(Sighting, json.loads(text))


def gradient_states(recording: Recording) -> dict[str, GradientState]:
    """What each source of the requests got, at best, by the names that findings use."""
    found: dict[str, GradientState] = {}
    with texts_of(recording.sources):
        for request in recording.requests:
            for source in request.sources:
                state = _state(source)
                for name in _names(recording, request, source):
                    found[name] = max(found.get(name, state), state, key=_ORDER.index)
    return found


_ORDER = [GradientState.NONE, GradientState.NONFINITE, GradientState.ZERO, GradientState.GOOD]


def _names(recording: Recording, request: Request, source: Source) -> set[str]:
    variable = None if source.variable is None else recording.variables.get(source.variable)
    return {name_of(recording, request, source), *(() if variable is None else (variable.name,))}


def _state(source: Source) -> GradientState:
    if source.outcome in (Outcome.MISSING, Outcome.FAILED):
        return GradientState.NONE
    if source.outcome is Outcome.NONFINITE:
        return GradientState.NONFINITE
    norms = () if source.numbers is None else source.numbers.norms
    if source.outcome is Outcome.ZERO or (norms and not any(norms)):
        return GradientState.ZERO
    if norms and not all(map(math.isfinite, norms)):
        return GradientState.NONFINITE
    return GradientState.GOOD
