"""Looks at what every eager request gives back, and finds out at once where a NaN or Inf came from.

At once, because the update that follows destroys the evidence. A look costs one pass over the gradients; the replay is
paid for only when something is not finite, and only a few times a run.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.op_table import kind_of
from whygrad.backends.tensorflow.log.positions import span
from whygrad.backends.tensorflow.nonfinite.amplifier import find_amplifier
from whygrad.backends.tensorflow.nonfinite.birth import describe, first_birth
from whygrad.backends.tensorflow.nonfinite.finite import is_finite, square_sum, symptom_of
from whygrad.backends.tensorflow.nonfinite.inquiry import Answer, inquire
from whygrad.backends.tensorflow.nonfinite.replay.compiled import CompiledReplay
from whygrad.backends.tensorflow.nonfinite.replay.flight import MAX_INQUIRIES, Flight
from whygrad.backends.tensorflow.nonfinite.replay.replayed import Replayed, replay_request
from whygrad.backends.tensorflow.nonfinite.replay.trace import ReplayError, Trace, Value
from whygrad.backends.tensorflow.nonfinite.underflow import find_underflow
from whygrad.backends.tensorflow.nonfinite.updating import Spread
from whygrad.graph import OpKind, Outcome, VariableId
from whygrad.graph.event import Event
from whygrad.graph.nonfinite import (
    GradientAmplified,
    GradientUnderflow,
    NonfiniteBorn,
    NonfiniteEntered,
    NonfiniteUnplaced,
    NonfiniteUpdate,
    Occurrence,
)

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture
    from whygrad.backends.tensorflow.log.requests import RequestEntry, Ticket

MAX_REPLAYS = 6  # a run
MAX_REPLAYS_A_PLACE = 2
LARGE = 1e4  # a gradient whose norm is above this is looked at once


@dataclass(slots=True)
class Discovery:
    """One cause, and how often it has shown itself since."""

    event: NonfiniteBorn | NonfiniteEntered | NonfiniteUnplaced | NonfiniteUpdate | GradientAmplified
    place: Any
    step: int
    loss_is_bad: bool
    variables: dict[int, None]
    symptom: str = "NaN"
    seen: int = 1
    applied: bool = False
    skipped: bool = False
    flight: Flight | None = None  # the compiled function it was found in


@dataclass(slots=True)
class PlaceFacts:
    requests: int = 0
    bad: int = 0
    replays: int = 0
    amplified: bool = False  # a large gradient was looked at


@dataclass(slots=True)
class Sentinel:
    capture: Capture
    places: dict[Any, PlaceFacts] = field(default_factory=dict)
    discoveries: list[Discovery] = field(default_factory=list)
    latest: dict[int, Discovery | None] = field(default_factory=dict)  # variable -> why its gradient is bad
    replays: int = 0
    underflows: list[GradientUnderflow] = field(default_factory=list)
    _analysed: tuple[Trace, list[Value]] | None = None  # the last replay

    def look(self, ticket: Ticket, gradients: list[Any]) -> list[float]:
        """Called with the results of every eager request, before anything is done with them.

        The sum of squares of each of them.
        """
        squares = [0.0 if gradient is None else square_sum(gradient) for gradient in gradients]
        self._look(ticket, gradients, squares)
        return squares

    def _look(self, ticket: Ticket, gradients: list[Any], squares: list[float]) -> None:
        entry = ticket.entry
        facts = self.places.setdefault(entry.place, PlaceFacts())
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
                self.latest.pop(source.variable, None)
        if not bad_targets and not bad_sources:
            if largest > LARGE * LARGE:
                self._look_for_amplifier(ticket, facts)
            return
        facts.bad += 1
        ends = bad_targets or [g for g in gradients if g is not None and not is_finite(g)]
        found = self._explain(ticket, facts, bool(bad_targets), symptom_of(ends))
        for source in bad_sources:
            if source.variable is not None:
                self.latest[source.variable] = found
                if found is not None:
                    found.variables[source.variable] = None
        if found is not None:
            self._keep(found)

    def _explain(self, ticket: Ticket, facts: PlaceFacts, loss_is_bad: bool, symptom: str) -> Discovery | None:
        """The cause of one bad request: a new one, or one that is known."""
        entry = ticket.entry
        known = next((d for d in self.discoveries if d.place == entry.place), None)
        if self._is_consequence(entry):
            if known is not None:
                known.seen += 1
            return known
        if self.replays >= MAX_REPLAYS or facts.replays >= MAX_REPLAYS_A_PLACE:
            if known is not None:
                known.seen += 1
            return known
        self.replays += 1
        facts.replays += 1
        event = self._replay(ticket, self._birth_in)
        if event is None:
            return None
        same = next((d for d in self.discoveries if d.place == entry.place and _is_same(d.event, event)), None)
        if same is not None:
            self._analysed = None
            same.seen += 1
            return same
        found = Discovery(event, entry.place, facts.requests, loss_is_bad, {}, symptom)
        self.discoveries.append(found)
        return found

    def _look_for_amplifier(self, ticket: Ticket, facts: PlaceFacts) -> None:
        """A finite gradient of this size has one reason that can be named: a normalisation near zero."""
        episode = ticket.episode
        if facts.amplified or self.replays >= MAX_REPLAYS or episode is None:
            return
        facts.amplified = True
        records = reversed(self.capture.recorder.records)
        recent = itertools.takewhile(lambda record: record.sequence > episode.start, records)
        if not any(kind_of(record.type) is OpKind.SQRT for record in recent):
            return
        self.replays += 1
        event = self._replay(ticket, find_amplifier)
        if isinstance(event, GradientAmplified):
            self.discoveries.append(Discovery(event, ticket.entry.place, facts.requests, False, {}))

    def _is_consequence(self, entry: RequestEntry) -> bool:
        poisoned = self.capture.update_watch.poisoned
        return any(source.variable in poisoned for source in entry.sources)

    def _replay(self, ticket: Ticket, look: Callable[[Replayed], Any]) -> Any:
        """What a look into the replayed step finds; None: it needs no explanation, or has one."""
        recorder = self.capture.recorder
        recorder.paused += 1
        try:
            with compat.unrecorded():
                return look(replay_request(self.capture, ticket))
        except ReplayError as reason:
            return NonfiniteUnplaced(where=span(ticket.entry.place), reason=str(reason))
        except Exception as error:  # an op that cannot be run alone, memory, a gradient function that wants more
            why = f"the replay failed: {type(error).__name__}: {error}"
            return NonfiniteUnplaced(where=span(ticket.entry.place), reason=why)
        finally:
            recorder.paused -= 1

    def _birth_in(self, replayed: Replayed) -> Any:
        ends = [target for target in replayed.targets if target.bad]
        if not ends:
            ends = [value for value in replayed.sweep_back().results() if value.bad]
        if not ends and replayed.is_unscaled:
            return None
        value = first_birth(self.capture, ends)
        if value is None:
            return NonfiniteUnplaced(where=span(replayed.place), reason="the replay gave finite values")
        self._analysed = (replayed.trace, ends)
        return self._event(replayed.trace, value)

    def _event(self, trace: Trace, value: Value, flight: Flight | None = None) -> Any:
        """Weights that went bad by an update are that update's doing, or a known one's consequence."""
        if value.handle is not None:
            watch = self.capture.update_watch
            if self.discoveries or value.handle in watch.poisoned:
                self.discoveries[-1].applied = True
                return None
            update = watch.last_of(value.handle)
            if update is not None and not watch.was_bad_before(value.handle, flight):
                return None if update.traced else watch.bad_update(update)
        return describe(self.capture, trace, value)

    def compiled_went_bad(self, flight: Flight) -> bool:
        """A compiled step gave a bad result, or left a bad variable. False: it reaches neither loss nor gradient."""
        if flight.inquiries >= MAX_INQUIRIES or self.replays >= MAX_REPLAYS or self._has_consequences():
            return True
        flight.inquiries += 1
        self.replays += 1
        recorder = self.capture.recorder
        recorder.paused += 1
        try:
            with compat.unrecorded():
                answer = inquire(self.capture, flight)
                event = self._answered(answer, flight)
        except ReplayError as reason:
            self._unplaced(flight, str(reason))
        except Exception as error:
            self._unplaced(flight, f"the replay failed: {type(error).__name__}: {error}")
        else:
            if event is not None:
                self._note_compiled(event, answer, flight)
            elif answer.is_nothing:
                flight.inquiries -= 1
                return False
        finally:
            recorder.paused -= 1
        return True

    def look_for_underflow(self, flight: Flight) -> None:
        """Run the last step of a function that uses float16 once more, and see what becomes of its gradients."""
        recorder = self.capture.recorder
        recorder.paused += 1
        try:
            with compat.unrecorded():
                replay = CompiledReplay(self.capture, flight)
                replay.run()
                for request, known in replay.requests():
                    if not replay.unscaled(request, known):
                        pairs = [(variable, known[number]) for variable, number in request.gradients if number in known]
                        self.underflows += filter(None, [find_underflow(replay.trace, pairs, request.place)])
        except Exception:  # nothing is known to be wrong: there is nothing to say
            return
        finally:
            recorder.paused -= 1

    def _has_consequences(self) -> bool:
        """A cause is known whose bad values are in the weights by now, or in every step."""
        return any(not found.skipped for found in self.discoveries)

    def _answered(self, answer: Answer, flight: Flight) -> Any:
        if answer.is_nothing:
            return None
        if answer.request is None and answer.birth is None:
            update = self.capture.update_watch.last_of(answer.spoilt[0])
            if update is None:
                raise ReplayError("it is made in the update, and no update of these variables was seen")
            made = answer.in_update
            born = None if made is None else describe(self.capture, answer.trace, made)
            return self.capture.update_watch.bad_update(
                update, answer.spoilt, born if isinstance(born, NonfiniteBorn) else None
            )
        if answer.birth is None:
            raise ReplayError("the replay gave finite values")
        return self._event(answer.trace, answer.birth, flight)

    def _note_compiled(self, event: Any, answer: Answer, flight: Flight) -> None:
        if any(known.flight is flight and _is_same(known.event, event) for known in self.discoveries):
            return
        place = None if answer.request is None else answer.request.place
        found = Discovery(event, place, answer.step, answer.loss_is_bad, dict.fromkeys(answer.culprits), answer.symptom)
        found.flight = flight
        found.skipped = not answer.spoilt and not flight.written_variables.isdisjoint(answer.culprits)
        found.applied = bool(answer.spoilt)
        self.discoveries.append(found)
        self._analysed = (answer.trace, answer.ends)
        self._keep(found)
        self.capture.update_watch.poisoned.update(answer.spoilt)
        if answer.victims:
            update = self.capture.update_watch.last_of(answer.victims[0])
            inside = None if update is None else update.place
            where = answer.spread_at or inside
            spread = Spread(where, answer.victims, answer.culprits, answer.spread_at is None)
            self.capture.update_watch.spreads.append(spread)

    def _keep(self, found: Discovery) -> None:
        """Write the step down for another day."""
        analysed, self._analysed = self._analysed, None
        if analysed is None or not isinstance(found.event, (NonfiniteBorn, NonfiniteEntered)):
            return
        self.capture.recorder.paused += 1
        try:
            with compat.unrecorded():
                self.capture.keeper.keep(*analysed, self._when(found))
        finally:
            self.capture.recorder.paused -= 1

    def _unplaced(self, flight: Flight, reason: str) -> None:
        requests = [each for graph, made in self.capture.flights.requests.items() for each in made]
        place = requests[0].place if requests else None
        event = NonfiniteUnplaced(where=span(place), reason=reason, function=flight.name)
        found = Discovery(event, place, flight.first_bad or flight.calls, flight.bad_calls > 0, {})
        found.flight = flight
        self.discoveries.append(found)

    def applying(self, updated: set[int], bad: set[int]) -> None:
        """An update takes the gradients of these variables, some of them bad."""
        for found in self.discoveries:
            mine = updated & found.variables.keys()
            if mine & bad:
                found.applied = True
            elif mine:
                found.skipped = True

    def events(self) -> list[Event]:
        return [*(self._frozen(found) for found in self.discoveries), *dict.fromkeys(self.underflows)]

    def _frozen(self, found: Discovery) -> Event:
        return found.event if isinstance(found.event, NonfiniteUpdate) else replace(found.event, when=self._when(found))

    def _when(self, found: Discovery) -> Occurrence:
        facts = self.places.get(found.place, PlaceFacts())
        flight = found.flight
        return Occurrence(
            request=span(found.place),
            step=found.step,
            seen=found.seen if flight is None else max(flight.bad_calls, 1),
            of=facts.requests if flight is None else flight.calls,
            loss_is_bad=found.loss_is_bad,
            variables=tuple(map(VariableId, found.variables)),
            symptom=found.symptom,
            skipped=found.skipped and not found.applied,
            compiled=flight is not None,
        )


def _is_same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one.where == other.where
