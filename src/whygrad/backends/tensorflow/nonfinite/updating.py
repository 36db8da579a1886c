"""What updates do with bad gradients, and what they make of good ones."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.known_updates import has_users_code
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.updates import UpdateEntry, Updates
from whygrad.backends.tensorflow.log.variables import VariableBook
from whygrad.backends.tensorflow.measure.finite import facts_of_values, is_finite, tensor_of
from whygrad.backends.tensorflow.nonfinite.discoveries import Discoveries
from whygrad.backends.tensorflow.nonfinite.loss_scale.watch import ScaleWatch
from whygrad.backends.tensorflow.nonfinite.replay.step_histories import StepHistories
from whygrad.backends.tensorflow.nonfinite.replay.step_history import StepHistory
from whygrad.backends.tensorflow.nonfinite.update_spy import UpdateSpy
from whygrad.graph import VariableId
from whygrad.graph.nonfinite import Nonfinite, Occurrence, Scaled, Stage, UpdateFacts
from whygrad.observe.place import span
from whygrad.source import SourceSpan


@dataclass(slots=True)
class UpdateWatch:
    """Looks at gradients and variables before and after every eager update."""

    recorder: Recorder
    variables: VariableBook
    updates: Updates
    discoveries: Discoveries
    scale_watch: ScaleWatch
    histories: StepHistories
    guarded: bool  # bad gradients are held back
    made: weakref.WeakKeyDictionary[Any, Any] = field(default_factory=weakref.WeakKeyDictionary)  # optimizer -> place
    spreads: dict[Any, Nonfinite] = field(default_factory=dict)  # by place
    sums: dict[Any, list[int]] = field(default_factory=dict)  # (place, applied at, pieces, bad ones) -> variables
    pending: list[tuple[Any, int]] = field(default_factory=list)  # variables with good gradients, where others are bad
    poisoned: set[int] = field(default_factory=set)  # variables that took a bad gradient
    bad_before: dict[int, bool] = field(default_factory=dict)  # variable -> not finite before its first eager update
    place: Any = None
    spy: UpdateSpy | None = None
    born: dict[int, Nonfinite] = field(default_factory=dict)  # variable -> the op of a user's own update that failed

    def begin(self, update: UpdateEntry, gradients: list[Any], variables: list[Any], caller: FrameType) -> None:
        """Before an update, eager or traced."""
        optimizer = update.reference()
        scales = isinstance(optimizer, tuple(self.scale_watch.scalers))
        if scales:
            self.scale_watch.updating(update, gradients)  # what is not finite is skipped
        if update.traced:
            return
        self.pending = []
        self._meet(variables)
        if not scales and self.discoveries.all:
            self._look(gradients, variables, update.place)
        self._listen(optimizer, [pair.variable for pair in update.pairs], caller)

    def _look(self, gradients: list[Any], variables: list[Any], place: Any) -> None:
        """Which variables take a bad gradient; something bad was found before."""
        found = self.discoveries
        pairs = [
            (gradient, variable, entry.id)
            for gradient, variable in zip(gradients, variables, strict=False)
            if gradient is not None and (entry := self.variables.of(variable)) is not None
        ]
        bad = [(gradient, number) for gradient, _, number in pairs if not is_finite(tensor_of(gradient))]
        if self.guarded:
            bad = []
        found.applying((number for _, _, number in pairs), {number for _, number in bad})
        if not bad:
            return
        self.place = place
        if not self.poisoned:
            self._note_sums(bad)
        self.poisoned.update(number for _, number in bad)
        are_bad = {id(gradient) for gradient, _ in bad}
        self.pending = [(variable, number) for gradient, variable, number in pairs if id(gradient) not in are_bad]
        if found.latest:
            culprits = found.culprits
            self._note_victims(
                [(g, n) for g, n in bad if n not in culprits and n not in found.latest], tuple(found.latest)
            )

    def _listen(self, optimizer: Any, variables: list[int], above: FrameType) -> None:
        """To an update in which code of the user's takes part."""
        recorder = self.recorder
        if recorder.spy is None and not self.born and has_users_code(optimizer):
            self.spy = UpdateSpy(recorder, variables, above)
            recorder.spy = self.spy.on_op

    def _heard(self) -> None:
        spy, self.spy = self.spy, None
        if spy is None:
            return
        self.recorder.spy = None
        if spy.born is not None:
            self.born = {number: spy.born for number in spy.variables if not self._is_finite(number)}

    def _meet(self, variables: list[Any]) -> None:
        for variable in variables:
            entry = self.variables.of(variable)
            if entry is not None and entry.id not in self.bad_before:
                self.bad_before[entry.id] = not is_finite(tensor_of(variable))

    def was_bad_before(self, variable: int, history: StepHistory | None) -> bool:
        """Whether a variable was not finite before any update; `history` is the compiled step it was found in."""
        known = self.bad_before.get(variable)
        if known is not None or history is None:
            return bool(known)
        others = (each for each in self.histories.by_graph.values() if each is not history)
        return variable in history.bad_from_start and all(variable not in each.written_variables for each in others)

    def wrote(self, variable: int) -> None:
        """User code wrote a gradient into a variable by hand."""
        if variable in self.discoveries.latest:
            self.discoveries.applying({variable}, {variable})
            self.poisoned.add(variable)

    def _note_victims(self, victims: list[tuple[Any, int]], culprits: tuple[int, ...]) -> None:
        """Gradients that were finite whenever they were asked for, where the op that made them bad is known."""
        producers = self.recorder.producers
        record = producers.get(compat.id_of(tensor_of(victims[0][0])) or -1) if victims else None
        if record is not None:
            self.add_spread(record.place, tuple(number for _, number in victims), culprits)

    def _note_sums(self, bad: list[tuple[Any, int]]) -> None:
        """Bad gradients that are sums of several, and how many requests at their place were ever bad."""
        for gradient, number in bad:
            label = self.updates.label_of(gradient)
            if label is not None and label.summed is not None and label.asked is not None:
                bad_ones = self.discoveries.places[label.asked.place].bad
                key = (label.summed, self.place, len(label.requests), bad_ones)
                self.sums.setdefault(key, []).append(number)

    def add_spread(
        self, place: Any, victims: tuple[int, ...], culprits: tuple[int, ...], *, inside_optimizer: bool = False
    ) -> None:
        """The gradients of `victims` were finite and are not any more, because those of `culprits` are not."""
        spoilers = tuple(map(VariableId, culprits))
        spread = Nonfinite(
            stage=Stage.SPREAD,
            where=span(place),
            variables=tuple(map(VariableId, victims)),
            culprits=spoilers,
            inside_optimizer=inside_optimizer,
            when=Occurrence(variables=spoilers),
        )
        self.spreads.setdefault(place, spread)

    def after(self) -> None:
        """Variables whose own gradient was finite and that are not any more: the optimizer's own clipping did it."""
        self._heard()
        victims = [number for variable, number in self.pending if not is_finite(tensor_of(variable))]
        if victims:
            culprits = tuple(self.discoveries.latest)
            self.poisoned.update(victims)
            self.add_spread(self.place, tuple(victims), culprits, inside_optimizer=True)
        self.pending = []

    def last_of(self, variable: int) -> UpdateEntry | None:
        """The update that last moved a variable."""
        entries = [
            entry
            for entry in self.updates.entries.values()
            if any(pair.variable == variable and not pair.missing for pair in entry.pairs)
        ]
        return entries[-1] if entries else None

    def bad_update(
        self, update: UpdateEntry, left: tuple[int, ...] = (), born: Nonfinite | None = None
    ) -> Nonfinite | None:
        """The variables that an update left not finite; ask only where its gradients were seen to be finite.

        `left` has them where they are known, and `born` the op of the replayed update that made the first bad value.
        """
        bad = list(left) or [pair.variable for pair in update.pairs if not self._is_finite(pair.variable)]
        if not bad:
            return None
        optimizer = None if update.reference is None else update.reference()
        epsilon = getattr(optimizer, "epsilon", None)
        facts = UpdateFacts(
            optimizer=update.optimizer,
            where=span(update.place),
            made=span(self.made.get(optimizer)) if optimizer is not None else None,
            epsilon=float(epsilon) if isinstance(epsilon, (int, float)) else None,
            dtype=self.variables.entries[bad[0]].dtype,
        )
        rate = self._bad_rate(optimizer, facts)
        if rate is not None:
            return rate
        if born is None or born.op is None:
            born = self.born.get(bad[0])
        if born is None and any(pair.variable in bad and pair.is_changed for pair in update.pairs):
            reason = "the gradients were finite when they were asked for, and changed before the update"
            variables = tuple(map(VariableId, bad))
            return Nonfinite(stage=Stage.UNPLACED, where=facts.where, update=facts, variables=variables, reason=reason)
        if born is None or born.where is None or _is_within(born.where, facts.where):
            born = Nonfinite(stage=Stage.BORN, where=facts.where)  # the framework's own code, which has no line to show
        return replace(born, stage=Stage.UPDATE, update=facts, variables=tuple(map(VariableId, bad)))

    def _bad_rate(self, optimizer: Any, update: UpdateFacts) -> Nonfinite | None:
        """The rate of an optimizer, where it is a variable that is not finite: every weight it moves is bad by that."""
        rate = getattr(optimizer, "learning_rate", None)
        entry = None if rate is None else self.variables.of(rate)
        if entry is None or is_finite(tensor_of(rate)):
            return None
        return Nonfinite(
            stage=Stage.ENTERED,
            where=span(entry.created),
            value=facts_of_values(tensor_of(rate)),
            variables=(VariableId(entry.id),),
            used_at=update.where,
            written_at=span(entry.last_write),
        )

    def is_before(self, update: UpdateEntry, born: Nonfinite) -> bool:
        """Whether the user's own code made a bad value of gradients that an update was then given, or wrote by hand."""
        if born.op is None or born.where is None:
            return False
        if update.reference is None:  # by hand
            return True
        return not _is_within(born.where, span(update.place)) and not has_users_code(update.reference())

    def _last_update(self) -> Nonfinite | None:
        if self.discoveries.all or self.poisoned:
            return None
        for update in reversed(list(self.updates.entries.values())):
            if update.traced and not all(self._is_finite(pair.variable) for pair in update.pairs):
                reason = "it was made inside a compiled function"
                return Nonfinite(stage=Stage.UNPLACED, where=span(update.place), reason=reason)
            found = None if update.traced else self.bad_update(update)
            if found is not None:
                return found
        return None

    def _is_finite(self, number: int) -> bool:
        entry = self.variables.entries.get(number)
        variable = None if entry is None or entry.reference is None else entry.reference()
        return variable is None or is_finite(tensor_of(variable))

    def events(self) -> Iterator[Nonfinite | Scaled]:
        """What updates did; the last one has no request after it that would show what it did."""
        yield from self.spreads.values()
        for (place, applied, pieces, bad), variables in self.sums.items():
            yield Nonfinite(
                stage=Stage.SUMMED,
                where=span(place),
                used_at=span(applied),
                variables=tuple(map(VariableId, variables)),
                pieces=pieces,
                bad_pieces=bad,
            )
        yield from self.scale_watch.events()
        last = self._last_update()
        if last is not None:
            yield last


def _is_within(inner: SourceSpan, outer: SourceSpan | None) -> bool:
    """Whether an op ran in a call, and not for one of the arguments that are written there."""
    if outer is None or inner.column is None or outer.column is None:
        return outer is not None and inner.file == outer.file and outer.contains_line(inner.line)
    return inner == outer
