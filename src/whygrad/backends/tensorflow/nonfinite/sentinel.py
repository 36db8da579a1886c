"""Looks at what every eager request gives back, and finds out at once where a NaN or Inf came from.

At once, because the update that follows destroys the evidence. A look costs one pass over the gradients; the replay is
paid for only when something is not finite, and only a few times a run.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from whygrad.backends.tensorflow.log.op_table import kind_of
from whygrad.backends.tensorflow.log.requests import Ticket
from whygrad.backends.tensorflow.measure.finite import is_finite, symptom_of
from whygrad.backends.tensorflow.nonfinite.birth import describe, first_birth
from whygrad.backends.tensorflow.nonfinite.discoveries import Discoveries, Discovery, PlaceFacts
from whygrad.backends.tensorflow.nonfinite.enlargement import largest_enlargement
from whygrad.backends.tensorflow.nonfinite.kept.keeper import Keeper
from whygrad.backends.tensorflow.nonfinite.replay.replayed import Replayed, replay_request
from whygrad.backends.tensorflow.nonfinite.replay.step_history import StepHistory
from whygrad.backends.tensorflow.nonfinite.replay.trace import ReplayError, Trace, Value
from whygrad.backends.tensorflow.nonfinite.updating import UpdateWatch
from whygrad.backends.tensorflow.nonfinite.watched import Watched
from whygrad.graph import OpKind, Outcome
from whygrad.graph.feeding import norm_before
from whygrad.graph.nonfinite import Nonfinite, Scaled, Stage
from whygrad.observe.place import span

MAX_REPLAYS: Final = 6  # a run
MAX_REPLAYS_A_PLACE: Final = 2
WORTH_A_REPLAY: Final = 1e4  # a gradient norm; the op is looked for, once a place, that enlarged it by as much


def failed(error: Exception) -> str:
    """Why a replay found nothing: an op that cannot be run alone, memory, a gradient function that wants more."""
    return str(error) if isinstance(error, ReplayError) else f"the replay failed: {type(error).__name__}: {error}"


@dataclass(slots=True)
class Sentinel:
    """The look at eager requests."""

    watched: Watched
    discoveries: Discoveries
    updates: UpdateWatch
    keeper: Keeper
    replays: int = 0
    analysed: tuple[Trace, list[Value]] | None = None  # the last replay

    def look(self, ticket: Ticket, gradients: list[Any], squares: list[float]) -> None:
        """Called with the results of every eager request, and the sums of their squares, before they are used."""
        entry = ticket.entry
        facts = self.discoveries.at(entry.place)
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
        if not bad_targets and not bad_sources:
            if largest > WORTH_A_REPLAY**2:
                self._look_for_enlargement(ticket, facts)
            return
        facts.bad += 1
        ends = bad_targets or [g for g in gradients if g is not None and not is_finite(g)]
        found = self._explain(ticket, facts, bool(bad_targets), symptom_of(ends))
        for source in bad_sources:
            if source.variable is not None:
                self.discoveries.latest[source.variable] = found
                if found is not None:
                    found.variables[source.variable] = None
        if found is not None:
            self.keep(found)

    def _explain(self, ticket: Ticket, facts: PlaceFacts, loss_is_bad: bool, symptom: str) -> Discovery | None:
        """The cause of one bad request: a new one, or one that is known."""
        place = ticket.entry.place
        poisoned = self.updates.poisoned
        is_consequence = any(source.variable in poisoned for source in ticket.entry.sources)
        if is_consequence or self.replays >= MAX_REPLAYS or facts.replays >= MAX_REPLAYS_A_PLACE:
            known = self.discoveries.first_of(place)
        else:
            self.replays += 1
            facts.replays += 1
            event = self._replay(ticket, self._birth_in)
            if event is None:
                return None
            known = self.discoveries.same_as(event, place)
            if known is None:
                found = Discovery(event, place, facts.requests, loss_is_bad, symptom)
                self.discoveries.all.append(found)
                return found
            self.analysed = None
        if known is not None:
            known.seen += 1
        return known

    def _look_for_enlargement(self, ticket: Ticket, facts: PlaceFacts) -> None:
        """A finite gradient of this size has one reason that can be named: a normalisation near zero."""
        episode = ticket.episode
        if facts.enlargement_sought or self.replays >= MAX_REPLAYS or episode is None:
            return
        facts.enlargement_sought = True
        records = reversed(self.watched.recorder.records)
        recent = itertools.takewhile(lambda record: record.sequence > episode.start, records)
        if not any(kind_of(record.type) is OpKind.SQRT for record in recent):
            return
        self.replays += 1
        event = self._replay(ticket, functools.partial(largest_enlargement, self.watched.shown_at))
        if (
            isinstance(event, Scaled)
            and (event.factor or 0.0) >= WORTH_A_REPLAY
            and norm_before(event.fed_by) is not None
        ):
            self.discoveries.all.append(Discovery(event, ticket.entry.place, facts.requests))

    def _replay(self, ticket: Ticket, look: Callable[[Replayed], Any]) -> Any:
        """What a look into the replayed step finds; None: it needs no explanation, or has one."""
        try:
            with self.watched.unseen():
                return look(replay_request(self.watched, ticket))
        except Exception as error:
            return Nonfinite(stage=Stage.UNPLACED, where=span(ticket.entry.place), reason=failed(error))

    def _birth_in(self, replayed: Replayed) -> Nonfinite | None:
        ends = [target for target in replayed.targets if target.bad]
        if not ends:
            ends = [value for value in replayed.sweep_back().results() if value.bad]
        if not ends and replayed.is_unscaled:
            return None
        value = first_birth(self.watched.variables, ends)
        if value is None:
            raise ReplayError("the replay gave finite values")
        self.analysed = (replayed.trace, ends)
        return self.event_of(replayed.trace, value)

    def event_of(self, trace: Trace, value: Value, history: StepHistory | None = None) -> Nonfinite | None:
        """The event of a first bad value; None: it has one, or it was made by an update that was not seen."""
        if value.handle is not None:
            if self.discoveries.all or value.handle in self.updates.poisoned:
                for found in self.discoveries.all[-1:]:
                    found.applied = True
                return None
            update = self.updates.last_of(value.handle)
            if update is not None and not self.updates.was_bad_before(value.handle, history):
                return None if update.traced else self.updates.bad_update(update)
        return describe(self.watched, trace, value)

    def keep(self, found: Discovery) -> None:
        """Write the step to disk, so that it can be looked at again later."""
        analysed, self.analysed = self.analysed, None
        event = found.event
        if analysed is None or not isinstance(event, Nonfinite) or event.stage not in (Stage.BORN, Stage.ENTERED):
            return
        with self.watched.unseen():
            self.keeper.keep(*analysed, self.discoveries.when(found))
