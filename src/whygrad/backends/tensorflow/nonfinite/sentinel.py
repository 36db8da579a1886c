"""Looks at what every eager request gives back, and at what is made of it: one pass over each, next to free.

Where something is not finite, or too large, it is explained at once: the update that follows destroys the evidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.episode import Aftermath
from whygrad.backends.tensorflow.log.op_record import OpRecord
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.requests import Ticket
from whygrad.backends.tensorflow.log.updates import UpdateEntry
from whygrad.backends.tensorflow.log.variables import VariableBook, VariableEntry
from whygrad.backends.tensorflow.measure.finite import is_finite
from whygrad.backends.tensorflow.nonfinite.discoveries import Discoveries
from whygrad.backends.tensorflow.nonfinite.explainer import WORTH_A_REPLAY, Explainer
from whygrad.graph import Outcome


@dataclass(frozen=True, slots=True)
class Sentinel:
    recorder: Recorder
    variables: VariableBook
    discoveries: Discoveries
    explainer: Callable[[], Explainer]  # made when there is something to explain

    def look(self, ticket: Ticket, gradients: list[Any], squares: list[float]) -> None:
        """Called with the results of every eager request, and the sums of their squares, before they are used."""
        entry = ticket.entry
        if entry.place is None:
            return  # TensorFlow's own, inside a `py_function`: what comes in there is no data
        facts = self.discoveries.places[entry.place]
        facts.requests += 1
        bad_targets = [target for target in ticket.raw_targets if not is_finite(target)]
        bad_sources = []
        largest = 0.0
        for source, total in zip(entry.sources, squares, strict=False):
            if not math.isfinite(total):
                source.outcome = Outcome.NONFINITE
                bad_sources.append(source)
                continue
            largest = max(largest, total)
            if source.variable is not None:
                self.discoveries.latest.pop(source.variable, None)
        if bad_targets or bad_sources:
            facts.bad += 1
            self.explainer().explain(ticket, gradients, bad_targets, bad_sources)
        elif largest > WORTH_A_REPLAY**2:
            self.explainer().look_for_enlargement(ticket)

    def look_at_update(self, update: UpdateEntry, gradients: list[Any], variables: list[Any]) -> None:
        """Before an update: at those gradients that something was computed with since they were asked for."""
        if not update.traced:
            self._look_at_given(update.place, gradients, variables)

    def look_at_offer(self, place: Any, gradients: list[Any], variables: list[Any]) -> None:
        """Before a guard decides; what is bad is held back."""
        found = self.discoveries.first_of(place) if self._look_at_given(place, gradients, variables) else None
        if found is not None:
            found.skipped = True

    def _look_at_given(self, place: Any, gradients: list[Any], variables: list[Any]) -> bool:
        since = self.recorder.aftermath
        if since is None:
            return False
        given = zip(map(self.variables.of, variables), gradients, strict=False)
        known = [(entry.id, compat.values_in(gradient)) for entry, gradient in given if entry is not None]
        return self._look_at_changed(since, place, known)

    def look_at_write(self, entry: VariableEntry, record: OpRecord, value: Any) -> None:
        """After a write by hand."""
        since = self.recorder.aftermath
        if since is not None and self._look_at_changed(since, record.place, [(entry.id, value)]):
            self.explainer().updates.wrote(entry.id)

    def _look_at_changed(self, since: Aftermath, place: Any, given: list[tuple[int, Any]]) -> bool:
        changed = [(number, tensor) for number, tensor in given if since.has_changed(tensor)]
        if not changed or self.discoveries.has_bad_gradients:  # they spoil what is made of them
            return False
        self.discoveries.places[place].requests += since.counts(place)
        bad = {number: tensor for number, tensor in changed if not is_finite(tensor)}
        if bad:
            self.explainer().explain_change(since, place, bad)
        return bool(bad)
