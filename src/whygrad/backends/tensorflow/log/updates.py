"""Updates: which gradient an optimizer is given for which variable."""

from __future__ import annotations

import itertools
import operator
import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.episode import Episodes
from whygrad.backends.tensorflow.log.known_updates import KnownUpdates
from whygrad.backends.tensorflow.log.op_record import OpRecord
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.variables import VariableBook, VariableEntry
from whygrad.observe.label import Label
from whygrad.observe.pairs import By, Pair, note_part_taken
from whygrad.observe.place import Place

KEPT_PER_PLACE = 64


@dataclass(slots=True)
class UpdateEntry:
    place: Any
    optimizer: str
    optimizer_id: int
    pairs: tuple[Pair, ...]
    unknown: tuple[int, ...]
    order: int
    stateful: bool = False
    made: Any = None  # where the optimizer was made
    reference: Any = None  # the optimizer, weakly
    traced: bool = False  # what went in and came out was not seen
    distinct: bool = False  # no other optimizer has its name
    averages: int = 1  # calls that the optimizer takes the mean of
    counter: Any = None  # the variable that it counts its updates in, kept: it may be asked after the optimizer is gone
    iterations: int | None = None  # updates that it had made before; None: not known
    rate: float | None = None  # of the first of them
    schedule: Any = None  # of the framework's own, that the rate comes from
    adaptive: bool = False  # it divides by the size that gradients had
    count: int = 1


class Updates:
    def __init__(
        self, recorder: Recorder, variables: VariableBook, episodes: Episodes, training_place: Callable[[], Place]
    ) -> None:
        self._recorder = recorder
        self._variables = variables
        self._episodes = episodes
        self._training_place = training_place
        self.on_begin: list[Callable[[UpdateEntry, list[Any], list[Any], FrameType], None]] = []
        self.on_end: list[Callable[[], None]] = []  # of eager updates
        self.on_write: list[Callable[[int], None]] = []  # of a gradient, by hand and eagerly, into this variable
        self.entries: dict[Any, UpdateEntry] = {}
        self.per_place: dict[Any, int] = {}
        self.numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self.counter = itertools.count(1)
        self.names: dict[str, int] = {}  # the first optimizer of each name
        self.total = 0
        self.known = KnownUpdates(recorder.ledger)

    def number(self, optimizer: Any) -> int:
        """Which optimizer it is."""
        if optimizer not in self.numbers:
            self.numbers[optimizer] = next(self.counter)
        return self.numbers[optimizer]

    def begin(self, optimizer: Any, gradients: list[Any], variables: list[Any]) -> bool:
        """Log the update; the optimizer's own ops are of no interest and are not logged."""
        recorder = self._recorder
        recorder.applying += 1
        if recorder.applying > 1:
            return False
        caller, graph = sys._getframe(3), compat.current_graph()
        place = recorder.places.at(caller) or self._training_place()
        number = self.number(optimizer)
        by = By(place, number, recorder.now, recorder.observed.function_number(graph))
        pairs = tuple(
            self._pair(entry.id, gradient, by, graph)
            for gradient, variable in zip(gradients, variables, strict=False)
            if (entry := self._variables.of(variable)) is not None
        )
        unknown = self._unknown(optimizer, variables)
        update = UpdateEntry(place, _name(optimizer), number, pairs, unknown, recorder.now + 1)
        update.stateful, update.made = is_stateful(optimizer), self._made(optimizer)
        update.reference = weakref.ref(optimizer)
        update.distinct = self.names.setdefault(update.optimizer, number) == number
        update.averages = int(getattr(optimizer, "gradient_accumulation_steps", None) or 1)
        update.traced = graph is not None
        # The other replicas, and an optimizer inside this one in threads of its own, take part in the same update.
        if not recorder.merging and self._keep(update):
            update.counter = optimizer.iterations
            update.iterations = self._counted(update.counter)
            with recorder.pausing():
                update.rate, update.adaptive = compat.rate_now(optimizer), is_adaptive(optimizer)
            update.schedule = compat.schedule_of(optimizer)
        inputs = [tensor for g in gradients if (tensor := compat.id_of(compat.values_in(g))) is not None]
        record = recorder.add_virtual("ApplyGradients", inputs, (), place, graph)
        record.attrs = tuple(pair.variable for pair in pairs if not pair.missing)
        recorder.paused += 1
        recorder.merging += compat.in_replica()
        if recorder.merging <= 1:  # replicas update together
            recorder.ledger.updating(_name(optimizer), graph, place)
        for look in self.on_begin:
            look(update, gradients, variables, caller)
        if graph is None:
            self._episodes.updating()
            if recorder.spy is None and not recorder.merging:
                self.known.begin(optimizer, (number, place, tuple((pair.variable, pair.missing) for pair in pairs)))
        return True

    def wrote(self, entry: VariableEntry, record: OpRecord, graph: Any, label: Label) -> None:
        """A user's own update: `w.assign_sub(rate * gradient)`."""
        for look in self.on_write if graph is None else ():
            look(entry.id)
        self._recorder.ledger.wrote_gradient(graph)
        pair = Pair(entry.id, label, frozen=is_frozen(entry))
        traced = compat.current_graph() is not None
        self._keep(UpdateEntry(record.place, record.type, 0, (pair,), (), record.sequence, traced=traced))

    def _pair(self, variable: int, gradient: Any, by: By, graph: Any) -> Pair:
        observed = self._recorder.observed
        folds = observed.folds
        label, entry = self.label_of(gradient), self._variables.entries.get(variable)
        pair = Pair(variable, missing=gradient is None)
        if label is not None:
            folds.labels.taken(label)
            pair = folds.applied.pair(variable, label, by)
            if entry is not None and variable in label.variables:
                since = max(asked.at for asked in label.requests)
                pair.overwritten = folds.assignments.overwritten(
                    variable, since, observed.maker_in(graph), folds.labels.tensors
                )
        elif gradient is not None and graph is not None:
            values = compat.values_in(gradient)
            if getattr(values, "graph", None) is graph:
                folds.labels.calls.await_arguments(
                    compat.tensor_id(values), observed.function(graph, [values]), pair.learn
                )
        pair.frozen = entry is not None and is_frozen(entry)
        return pair

    def label_of(self, gradient: Any) -> Label | None:
        """What went into a gradient, which may be held by a variable."""
        recorder = self._recorder
        values = compat.values_in(gradient)
        if not hasattr(type(values), "assign"):
            return recorder.observed.label_of(values)
        entry = self._variables.of(values)
        return None if entry is None else recorder.labels.held_by(entry.id)

    def _made(self, optimizer: Any) -> Any:
        """An optimizer's own counters are made with it."""
        for name in ("_learning_rate", "_iterations", "iterations"):
            entry = self._variables.of(getattr(optimizer, name, None))
            if entry is not None and entry.created is not None:
                return entry.created
        return None

    def end(self, began: bool | None) -> None:
        recorder = self._recorder
        recorder.applying -= 1
        if began:
            self.known.end()
            for look in self.on_end if compat.current_graph() is None else ():
                look()
            recorder.paused -= 1
            recorder.merging -= compat.in_replica()
            if not recorder.merging:
                recorder.ledger.updated()

    def _unknown(self, optimizer: Any, variables: list[Any]) -> tuple[int, ...]:
        """Variables that a built Keras 3 optimizer does not know."""
        built_for = compat.trainables_of(optimizer)
        if not getattr(optimizer, "built", False) or not built_for:
            return ()
        if len(variables) == len(built_for) and all(map(operator.is_, variables, built_for)):
            return ()
        book = self._variables
        mine = {entry.id for variable in built_for if (entry := book.of(variable)) is not None}
        found = (book.of(variable) for variable in variables)
        return tuple(entry.id for entry in found if entry is not None and entry.id not in mine)

    def _keep(self, entry: UpdateEntry) -> bool:
        """False where one like it is kept, or many from the same place."""
        self.total += 1
        self._recorder.updated = True
        key = (entry.place, entry.optimizer_id, tuple(pair.signature() for pair in entry.pairs), entry.unknown)
        known = self.entries.get(key)
        if known is not None:
            known.count += 1
            return False
        kept = self.per_place.get(entry.place, 0)
        if kept < KEPT_PER_PLACE:
            graph, recorder = compat.current_graph(), self._recorder
            note_part_taken(entry.pairs, recorder.ops_of(graph), recorder.observed.handles(graph))
            self.per_place[entry.place] = kept + 1
            self.entries[key] = entry
        return kept < KEPT_PER_PLACE

    def _counted(self, counter: Any) -> int | None:
        with self._recorder.pausing():
            return compat.value_now(counter)


def is_frozen(entry: VariableEntry) -> bool:
    """Whether a variable is not trainable now, the flag of the layer around it included."""
    keras = entry.keras() if entry.keras is not None else None
    return not (entry.trainable if keras is None else keras.trainable)


def is_stateful(optimizer: Any) -> bool:
    """Whether it keeps more than its counters: momentum, moments."""
    return any(getattr(optimizer, name, None) for name in ("momentum", "beta_1", "rho", "initial_accumulator_value"))


def is_adaptive(optimizer: Any) -> bool:
    """Whether it divides the gradient by the size that gradients had of late."""
    return any(getattr(optimizer, name, None) for name in ("beta_2", "rho", "initial_accumulator_value"))


def _name(optimizer: Any) -> str:
    return str(getattr(optimizer, "name", None) or type(optimizer).__name__)
