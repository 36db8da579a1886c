"""Looks at what every eager request gives back: one pass over the gradients, which costs next to nothing.

Where something is not finite, or too large, it is explained at once: the update that follows destroys the evidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from whygrad.backends.tensorflow.log.requests import Ticket
from whygrad.backends.tensorflow.measure.finite import is_finite
from whygrad.backends.tensorflow.nonfinite.discoveries import Discoveries
from whygrad.backends.tensorflow.nonfinite.explainer import WORTH_A_REPLAY, Explainer
from whygrad.graph import Outcome


@dataclass(frozen=True, slots=True)
class Sentinel:
    discoveries: Discoveries
    explainer: Callable[[], Explainer]  # made when there is something to explain

    def look(self, ticket: Ticket, gradients: list[Any], squares: list[float]) -> None:
        """Called with the results of every eager request, and the sums of their squares, before they are used."""
        entry = ticket.entry
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
