"""The causes that were found so far, and how often each has shown itself since."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from whygrad.backends.tensorflow.nonfinite.replay.step_history import StepHistory
from whygrad.graph import VariableId
from whygrad.graph.nonfinite import Nonfinite, Occurrence, Scaled, Stage
from whygrad.observe.place import span


@dataclass(slots=True, eq=False)
class Discovery:
    """One cause."""

    event: Nonfinite | Scaled
    place: Any  # of the request, or of the update
    step: int
    loss_is_bad: bool = False
    symptom: str = "NaN"
    variables: dict[int, None] = field(default_factory=dict)
    seen: int = 1
    applied: bool = False
    skipped: bool = False
    in_update: bool = False  # the gradients were finite; what an update was to make of them is not
    history: StepHistory | None = None  # the compiled function it was found in

    def is_same(self, event: Nonfinite | Scaled) -> bool:
        """Whether another look found what this one had found."""
        return _kind(self.event) == _kind(event) and self.event.where == event.where

    def when(self, requests: int) -> Occurrence:
        """`requests`: how many were made at this place."""
        history = self.history
        return Occurrence(
            request=span(self.place),
            step=self.step,
            seen=self.seen if history is None else max(history.bad_calls, 1),
            of=requests if history is None else history.calls,
            loss_is_bad=self.loss_is_bad,
            variables=tuple(map(VariableId, self.variables)),
            symptom=self.symptom,
            skipped=self.skipped and not self.applied,
            in_update=self.in_update,
            compiled=history is not None,
        )


def _kind(event: Nonfinite | Scaled) -> object:
    return event.stage if isinstance(event, Nonfinite) else event.how


@dataclass(slots=True)
class PlaceFacts:
    """The requests of one place."""

    requests: int = 0
    bad: int = 0
    replays: int = 0
    enlargement_sought: bool = False


@dataclass(slots=True)
class Discoveries:
    """All causes of a run."""

    places: defaultdict[Any, PlaceFacts] = field(default_factory=partial(defaultdict, PlaceFacts))
    all: list[Discovery] = field(default_factory=list)
    latest: dict[int, Discovery | None] = field(default_factory=dict)  # variable -> why its gradient is bad

    def first_of(self, place: Any) -> Discovery | None:
        return next((found for found in self.all if found.place == place), None)

    def same_as(self, event: Nonfinite | Scaled, place: Any) -> Discovery | None:
        return next((found for found in self.all if found.place == place and found.is_same(event)), None)

    @property
    def culprits(self) -> set[int]:
        """The variables whose gradients were bad by themselves."""
        return {number for found in self.all for number in found.variables}

    @property
    def have_consequences(self) -> bool:
        """A cause is known whose bad values are in the weights by now, or in every step."""
        return any(not found.skipped for found in self.all)

    @property
    def has_bad_gradients(self) -> bool:
        """Whether a gradient was bad when it was last asked for."""
        return any(found is None or not found.in_update for found in self.latest.values())

    def applying(self, updated: Iterable[int], bad: set[int]) -> None:
        """An update takes the gradients of these variables, some of them bad."""
        known = set(updated)
        for found in self.all:
            mine = known & found.variables.keys()
            if mine & bad:
                found.applied = True
            elif mine:
                found.skipped = True

    def when(self, found: Discovery) -> Occurrence:
        return found.when(self.places[found.place].requests if found.place in self.places else 0)

    def events(self) -> Iterator[Nonfinite | Scaled]:
        for found in self.all:
            is_update = isinstance(found.event, Nonfinite) and found.event.stage is Stage.UPDATE
            yield found.event if is_update else replace(found.event, when=self.when(found))
