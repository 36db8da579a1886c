"""What updates do with bad gradients, and what they make of good ones."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.backends.tensorflow.log.positions import span
from whygrad.backends.tensorflow.nonfinite.finite import is_finite, tensor_of
from whygrad.backends.tensorflow.nonfinite.update_spy import UpdateSpy, has_users_code
from whygrad.graph import VariableId
from whygrad.graph.event import Event
from whygrad.graph.nonfinite import (
    NonfiniteBorn,
    NonfiniteSpread,
    NonfiniteSummed,
    NonfiniteUnplaced,
    NonfiniteUpdate,
    Occurrence,
)
from whygrad.source import SourceSpan

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture
    from whygrad.backends.tensorflow.listen.optimizers import UpdateEntry
    from whygrad.backends.tensorflow.nonfinite.replay.flight import Flight


@dataclass(slots=True)
class Spread:
    place: Any
    victims: tuple[int, ...]
    culprits: tuple[int, ...]
    inside_optimizer: bool


@dataclass(slots=True)
class BadSum:
    applied: Any
    pieces: int
    bad: int
    variables: list[int] = field(default_factory=list)


@dataclass(slots=True)
class UpdateWatch:
    """Told before and after every eager update."""

    capture: Capture
    made: weakref.WeakKeyDictionary[Any, Any] = field(default_factory=weakref.WeakKeyDictionary)  # optimizer -> place
    scalers: tuple[type, ...] = ()  # classes of optimizers that divide by a loss scale
    spreads: list[Spread] = field(default_factory=list)
    sums: dict[Any, BadSum] = field(default_factory=dict)  # by where gradients were added up
    pending: list[tuple[Any, int]] = field(default_factory=list)  # variables with good gradients beside bad ones
    poisoned: set[int] = field(default_factory=set)  # variables that took a bad gradient
    bad_before: dict[int, bool] = field(default_factory=dict)  # variable -> not finite before its first eager update
    place: Any = None
    spy: UpdateSpy | None = None
    born: dict[int, NonfiniteBorn] = field(default_factory=dict)  # variable -> what an update of the user's made bad

    def before(self, optimizer: Any, gradients: list[Any], variables: list[Any], place: Any) -> None:
        self.pending = []
        self._meet(variables)
        sentinel = self.capture.sentinel
        if isinstance(optimizer, self.scalers):
            self.capture.scale_watch.updating(optimizer, place)
            return  # what is not finite is skipped
        if not sentinel.discoveries:
            return
        pairs = [
            (gradient, variable, entry.id)
            for gradient, variable in zip(gradients, variables, strict=False)
            if gradient is not None and (entry := self.capture.variables.of(variable)) is not None
        ]
        bad = [(gradient, number) for gradient, _, number in pairs if not is_finite(tensor_of(gradient))]
        if self.capture.options.on_optimizer is not None:
            bad = []  # a guard holds them back
        sentinel.applying({number for _, _, number in pairs}, {number for _, number in bad})
        if not bad:
            return
        self.place = place
        if not self.poisoned:
            self._note_sums(bad)
        self.poisoned.update(number for _, number in bad)
        spoilt = {id(gradient) for gradient, _ in bad}
        self.pending = [(variable, number) for gradient, variable, number in pairs if id(gradient) not in spoilt]
        if sentinel.latest:
            culprits = {number for found in sentinel.discoveries for number in found.variables}
            self._note_victims([(g, n) for g, n in bad if n not in culprits], tuple(sentinel.latest))

    def listen(self, optimizer: Any, variables: list[int], above: FrameType) -> None:
        """To an update in which code of the user's takes part."""
        recorder = self.capture.recorder
        if recorder.spy is None and not self.born and has_users_code(optimizer):
            self.spy = UpdateSpy(recorder, variables, above)
            recorder.spy = self.spy.on_op

    def _heard(self) -> None:
        spy, self.spy = self.spy, None
        if spy is None:
            return
        self.capture.recorder.spy = None
        if spy.born is not None:
            self.born = {number: spy.born for number in spy.variables if not self._is_finite(number)}

    def _meet(self, variables: list[Any]) -> None:
        for variable in variables:
            entry = self.capture.variables.of(variable)
            if entry is not None and entry.id not in self.bad_before:
                self.bad_before[entry.id] = not is_finite(tensor_of(variable))

    def was_bad_before(self, variable: int, flight: Flight | None) -> bool:
        """Whether a variable was not finite before any update; `flight` is the compiled step it was found in."""
        known = self.bad_before.get(variable)
        if known is not None or flight is None:
            return bool(known)
        others = (each for each in self.capture.flights.flights.values() if each is not flight)
        return variable in flight.bad_from_start and all(variable not in each.written_variables for each in others)

    def wrote(self, variable: int) -> None:
        """User code wrote a gradient into a variable by hand."""
        if variable in self.capture.sentinel.latest:
            self.capture.sentinel.applying({variable}, {variable})
            self.poisoned.add(variable)

    def _note_victims(self, victims: list[tuple[Any, int]], culprits: tuple[int, ...]) -> None:
        """Gradients that were finite whenever they were asked for, where the op that spoilt them is known."""
        producers = self.capture.recorder.producers
        record = producers.get(getattr(tensor_of(victims[0][0]), "_id", -1)) if victims else None
        if record is not None:
            self._add(Spread(record.place, tuple(number for _, number in victims), culprits, False))

    def _note_sums(self, bad: list[tuple[Any, int]]) -> None:
        """More pieces than were ever bad: some of them are finite."""
        for gradient, number in bad:
            label = self.capture.updates.label_of(gradient)
            if label is None or label.summed is None or label.asked is None:
                continue
            facts = self.capture.sentinel.places.get(label.asked.place)
            if facts is None or not 0 < facts.bad < len(label.requests):
                continue
            total = self.sums.setdefault(label.summed, BadSum(self.place, len(label.requests), facts.bad))
            total.variables.append(number)

    def _add(self, spread: Spread) -> None:
        if all(known.place != spread.place for known in self.spreads):
            self.spreads.append(spread)

    def after(self) -> None:
        """Variables whose own gradient was finite and that are not any more: the optimizer's own clipping did it."""
        self._heard()
        victims = [number for variable, number in self.pending if not is_finite(tensor_of(variable))]
        if victims:
            culprits = tuple(self.capture.sentinel.latest)
            self.poisoned.update(victims)
            self._add(Spread(self.place, tuple(victims), culprits, True))
        self.pending = []

    def last_of(self, variable: int) -> UpdateEntry | None:
        """The update that last moved a variable."""
        entries = [
            entry
            for entry in self.capture.updates.entries.values()
            if any(pair.variable == variable and not pair.missing for pair in entry.pairs)
        ]
        return entries[-1] if entries else None

    def bad_update(
        self, update: UpdateEntry, left: tuple[int, ...] = (), born: NonfiniteBorn | None = None
    ) -> NonfiniteUpdate | None:
        """The variables that an update left not finite; ask only where its gradients were seen to be finite.

        `left` has them where they are known, and `born` the op of the replayed update that made the first bad value.
        """
        bad = list(left) or [pair.variable for pair in update.pairs if not self._is_finite(pair.variable)]
        if not bad:
            return None
        entry = self.capture.variables.entries[bad[0]]
        optimizer = None if update.reference is None else update.reference()
        epsilon = getattr(optimizer, "epsilon", None)
        number = float(epsilon) if isinstance(epsilon, (int, float)) else None
        asked = span(update.place)
        born = born or self.born.get(bad[0])
        if born is not None and (born.where is None or (asked is not None and _is_within(born.where, asked))):
            born = None  # the framework's own code, which has no line to show
        return NonfiniteUpdate(
            optimizer=update.optimizer,
            where=asked,
            made=span(self.made.get(optimizer)) if optimizer is not None else None,
            variables=tuple(map(VariableId, bad)),
            epsilon=number,
            epsilon_vanishes=number is not None and not (np.float16(number) if entry.dtype == "float16" else number),
            dtype=entry.dtype,
            step=update.count,
            born=born,
        )

    def at_the_end(self) -> NonfiniteUpdate | NonfiniteUnplaced | None:
        """The last update has no request after it that would show what it did."""
        if self.capture.sentinel.discoveries or self.poisoned:
            return None
        for update in reversed(list(self.capture.updates.entries.values())):
            if update.traced and not all(self._is_finite(pair.variable) for pair in update.pairs):
                return NonfiniteUnplaced(where=span(update.place), reason="it was made inside a compiled function")
            found = None if update.traced else self.bad_update(update)
            if found is not None:
                return found
        return None

    def _is_finite(self, number: int) -> bool:
        entry = self.capture.variables.entries.get(number)
        variable = None if entry is None or entry.reference is None else entry.reference()
        return variable is None or is_finite(tensor_of(variable))

    def events(self) -> list[Event]:
        found: list[Event] = []
        for spread in self.spreads:
            found.append(
                NonfiniteSpread(
                    where=span(spread.place),
                    victims=tuple(map(VariableId, spread.victims)),
                    culprits=tuple(map(VariableId, spread.culprits)),
                    inside_optimizer=spread.inside_optimizer,
                    when=Occurrence(variables=tuple(map(VariableId, spread.culprits))),
                )
            )
        for place, total in self.sums.items():
            found.append(
                NonfiniteSummed(
                    where=span(place),
                    applied=span(total.applied),
                    variables=tuple(map(VariableId, total.variables)),
                    pieces=total.pieces,
                    bad=total.bad,
                )
            )
        return found


def _is_within(inner: SourceSpan, outer: SourceSpan) -> bool:
    return inner.file == outer.file and outer.contains_line(inner.line)
