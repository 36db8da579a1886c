"""Finds out where a NaN or Inf of an eager request came from, by a replay, a few times a run."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.episode import Aftermath
from whygrad.backends.tensorflow.log.op_table import kind_of
from whygrad.backends.tensorflow.log.requests import SourceEntry, Ticket
from whygrad.backends.tensorflow.measure.finite import is_finite, symptom_of
from whygrad.backends.tensorflow.nonfinite.birth import before_it_left, describe, first_birth
from whygrad.backends.tensorflow.nonfinite.discoveries import Discoveries, Discovery
from whygrad.backends.tensorflow.nonfinite.enlargement import largest_enlargement
from whygrad.backends.tensorflow.nonfinite.kept.keeper import Keeper
from whygrad.backends.tensorflow.nonfinite.replay.eager import EagerReplay
from whygrad.backends.tensorflow.nonfinite.replay.replayed import Replayed, replay_request
from whygrad.backends.tensorflow.nonfinite.replay.step_history import StepHistory
from whygrad.backends.tensorflow.nonfinite.replay.trace import ReplayError, Trace, Value
from whygrad.backends.tensorflow.nonfinite.updating import UpdateWatch
from whygrad.backends.tensorflow.nonfinite.watched import Watched
from whygrad.graph import OpKind
from whygrad.graph.nonfinite import Nonfinite, Scaled, Stage
from whygrad.graph.questions.feeding import norm_before
from whygrad.observe.place import span

MAX_REPLAYS: Final = 6  # a run
MAX_REPLAYS_A_PLACE: Final = 2
WORTH_A_REPLAY: Final = 1e4  # a gradient norm; the op is looked for, once a place, that enlarged it by as much


def failed(error: Exception) -> str:
    """Why a replay found nothing: an op that cannot be run alone, memory, a gradient function that wants more."""
    return str(error) if isinstance(error, ReplayError) else f"the replay failed: {type(error).__name__}: {error}"


@dataclass(slots=True)
class Explainer:
    """The causes that replays of eager requests show."""

    watched: Watched
    discoveries: Discoveries
    updates: UpdateWatch
    keeper: Keeper
    replays: int = 0
    analysed: tuple[Trace, list[Value]] | None = None  # the last replay

    def explain(
        self, ticket: Ticket, gradients: list[Any], bad_targets: list[Any], bad_sources: list[SourceEntry]
    ) -> None:
        """A request gave something that is not finite."""
        ends = bad_targets or [g for g in gradients if g is not None and not is_finite(g)]
        found = self._cause_of(ticket, bool(bad_targets), symptom_of(ends))
        for source in bad_sources:
            if source.variable is not None:
                self.discoveries.latest[source.variable] = found
                if found is not None:
                    found.variables[source.variable] = None
        if found is not None:
            self.keep(found)

    def explain_change(self, since: Aftermath, place: Any, bad: dict[int, Any]) -> None:
        """What was computed with finite gradients, to be written to these variables, is not finite."""
        facts = self.discoveries.places[place]
        known = self.discoveries.first_of(place)
        if known is None and self.replays < MAX_REPLAYS and self.updates.poisoned.isdisjoint(bad):
            self.replays += 1
            event = self._replay(place, lambda: self._birth_since(since, [compat.tensor_id(t) for t in bad.values()]))
            if event is None:
                return
            known = Discovery(event, place, facts.requests, symptom=symptom_of(bad.values()), seen=0, in_update=True)
            self.discoveries.all.append(known)
            self.keep(known)
        if known is not None:
            known.seen += since.counts(known)
            known.variables |= dict.fromkeys(bad)
            self.discoveries.latest |= dict.fromkeys(bad, known)

    def _cause_of(self, ticket: Ticket, loss_is_bad: bool, symptom: str) -> Discovery | None:
        """The cause of one bad request: a new one, or one that is known."""
        place = ticket.entry.place
        facts = self.discoveries.places[place]
        poisoned = self.updates.poisoned
        is_consequence = any(source.variable in poisoned for source in ticket.entry.sources)
        if is_consequence or self.replays >= MAX_REPLAYS or facts.replays >= MAX_REPLAYS_A_PLACE:
            known = self.discoveries.first_of(place)
        else:
            self.replays += 1
            facts.replays += 1
            event = self._replay(place, lambda: self._birth_in(replay_request(self.watched, ticket)))
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

    def look_for_enlargement(self, ticket: Ticket) -> None:
        """A finite gradient of this size has one reason that can be named: a normalisation near zero."""
        episode, facts = ticket.episode, self.discoveries.places[ticket.entry.place]
        if facts.enlargement_sought or self.replays >= MAX_REPLAYS or episode is None:
            return
        facts.enlargement_sought = True
        records = reversed(self.watched.recorder.records)
        recent = itertools.takewhile(lambda record: record.sequence > episode.start, records)
        if not any(kind_of(record.type) is OpKind.SQRT for record in recent):
            return
        self.replays += 1
        shown_at = self.watched.shown_at
        event = self._replay(
            ticket.entry.place, lambda: largest_enlargement(shown_at, replay_request(self.watched, ticket))
        )
        if (
            isinstance(event, Scaled)
            and (event.factor or 0.0) >= WORTH_A_REPLAY
            and norm_before(event.fed_by) is not None
        ):
            self.discoveries.all.append(Discovery(event, ticket.entry.place, facts.requests))

    def _replay(self, place: Any, look: Callable[[], Any]) -> Any:
        """What a look into a replayed step finds; None: it needs no explanation, or has one."""
        try:
            with self.watched.unseen():
                return look()
        except Exception as error:
            return Nonfinite(stage=Stage.UNPLACED, where=span(place), reason=failed(error))

    def _birth_since(self, since: Aftermath, targets: list[int]) -> Nonfinite | None:
        """The same for what was computed with gradients that were finite."""
        replay = EagerReplay(self.watched, since, targets)
        replay.run()
        ends = [value for number in targets if (value := replay.value(number)) is not None and value.bad]
        value = first_birth(self.watched.variables, ends)
        if value is None:
            raise ReplayError("the replay gave finite values")
        self.analysed = (replay.trace, ends)
        event = self.event_of(replay.trace, value)
        return None if event is None else replace(event, rows=(), batch=None)  # gradients have no examples

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
        earlier = before_it_left(self.watched, replayed.trace, value, replayed.replay.episode.start)
        if earlier is not None:
            return replace(describe(self.watched, replayed.trace, earlier), exact=False)
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
