"""How big the gradients of each place were, step by step: what the rules over steps are fed with in any watched run."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.requests import RequestEntry, Ticket
from whygrad.backends.tensorflow.log.variables import VariableBook
from whygrad.backends.tensorflow.numbers.activations import Readers
from whygrad.backends.tensorflow.numbers.eager_numbers import EagerNumbers
from whygrad.backends.tensorflow.numbers.stillness import Stillness
from whygrad.graph import GradientNumbers

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.measure.step_means import Means
    from whygrad.backends.tensorflow.numbers.traced_numbers import TracedNumbers

_MOST_VARIABLES: Final = 4096
_MOST_UNITS: Final = 4096  # of one variable
_MOST_PLACES: Final = 64
_LATE: Final = 8  # steps after which a variable that is trained has moved

Key = tuple[Any, ...]


@dataclass(slots=True)
class Place:
    """The gradients that one place asks for."""

    positions: tuple[int, ...]  # among the sources of the request
    numbers: EagerNumbers | TracedNumbers


@dataclass(frozen=True, slots=True)
class Sizes:
    """The gradients of a request over the steps that were kept, by their positions among its sources."""

    steps: tuple[int, ...] = ()
    ran: int = 0
    losses: tuple[float, ...] = ()
    of: Mapping[int, GradientNumbers] = field(default_factory=dict)


@dataclass(slots=True)
class StepNumbers:
    recorder: Recorder
    variables: VariableBook
    scaled: Mapping[Any, Mapping[int, int]]  # of each graph: scaled loss -> loss
    places: dict[Key, Place | None] = field(default_factory=dict)  # None: nothing to follow there
    stillness: Stillness = field(default_factory=Stillness)
    one: Any = None  # a variable of ours that holds 1
    _steps_ran: int = 0
    _measured: weakref.WeakKeyDictionary[Any, list[TracedNumbers]] = field(default_factory=weakref.WeakKeyDictionary)
    _hooks: Hooks = field(default_factory=Hooks)

    def ran(self, ticket: Ticket, gradients: Sequence[Any], squares: Sequence[float]) -> None:
        """An eager request was answered; `squares` are the sums of squares of the answers."""
        self._hooks.safely(self._ran, ticket, squares, gradients)

    def traced(self, ticket: Ticket, gradients: Sequence[Any]) -> None:
        """A request was answered in a graph: from now on the graph measures the answers itself."""
        if ticket.entry.method == "gradient" and ticket.paused and not self._hooks.broken:
            with compat.unrecorded(), self.recorder.pausing():
                self._hooks.safely(self._trace, ticket, gradients)

    def sizes(self, entry: RequestEntry) -> Sizes:
        """What is known of the steps of a request."""
        place = self.places.get(key_of(entry))
        found: Sizes | None = None if place is None else self._hooks.safely(self._sizes, entry, place)
        return Sizes() if found is None else found

    def turn_of(self, graph: Any) -> int | None:
        """How many of its runs a graph has counted, with those of the others that ask from the same place."""
        return next((numbers.turn() for numbers in self._measured.get(graph, ())), None)

    def step_ran(self, times: int) -> None:
        """Compiled steps are over; of the first, the variables that it made have their first values now."""
        first, self._steps_ran = self._steps_ran == 0, self._steps_ran + times
        if first:
            with self.recorder.pausing():
                self._hooks.safely(self.stillness.weigh)

    def look_again(self) -> None:
        """Compare the variables that have not moved with what they were at first."""
        with self.recorder.pausing():
            self._hooks.safely(self.stillness.look_again)

    def _ran(self, ticket: Ticket, squares: Sequence[float], gradients: Sequence[Any]) -> None:
        place = self._place(ticket, gradients, EagerNumbers)
        if place is None or not isinstance(place.numbers, EagerNumbers):
            return
        held = [gradients[i] for i in place.positions]
        if any(gradient is None for gradient in held):
            return
        place.numbers.add([squares[i] for i in place.positions], held, ticket.raw_targets)
        turn = place.numbers.turn
        if not turn & (turn - 1):
            self._look(ticket.entry, place, late=turn > _LATE)

    def _trace(self, ticket: Ticket, gradients: Sequence[Any]) -> None:
        from whygrad.backends.tensorflow.numbers.traced_numbers import TracedNumbers

        means = self.means(sys._getframe(1))
        if means is None:
            return
        place = self._place(ticket, gradients, TracedNumbers)
        if place is None or not isinstance(place.numbers, TracedNumbers):
            return
        if any(gradients[i] is None for i in place.positions):  # they were there in an earlier trace
            return
        targets = [target for target in ticket.raw_targets if compat.is_tensor(target)]
        if not targets:
            return
        place.numbers.write([gradients[i] for i in place.positions], targets, means)
        self._measured.setdefault(ticket.tf_graph, []).append(place.numbers)
        self._look(ticket.entry, place)

    def means(self, frame: Any) -> Means | None:
        """With which the function that is traced now may measure itself; None: it must not, others want it as it is."""
        import tensorflow as tf

        from whygrad.backends.tensorflow.measure.hidden_variable import hidden_variable, keep_with_graph
        from whygrad.backends.tensorflow.measure.step_means import Means

        how = compat.tracing(frame)
        if how.foreign or compat.replicas() > 1:
            return None
        if not how.compiled:
            return Means(tf.float32, by_hand=True)
        if self.one is None:
            self.one = hidden_variable(1.0, dtype=tf.float32, name="one")
        keep_with_graph(self.one)
        return Means(tf.float32, True, tf.convert_to_tensor(self.one))

    def _place(self, ticket: Ticket, gradients: Sequence[Any], kind: Any) -> Place | None:
        entry, key = ticket.entry, key_of(ticket.entry)
        if key not in self.places:
            positions = [i for i, gradient in enumerate(gradients) if self._is_followed(entry, i, gradient)]
            full = len(self.places) >= _MOST_PLACES or len(positions) > _MOST_VARIABLES
            if entry.place is None or full or not positions or self._is_scaled(ticket):
                self.places[key] = None
            else:
                units = [_units(gradients[i]) for i in positions]
                self.places[key] = Place(tuple(positions), kind(len(positions), units))
        return self.places[key]

    def _is_scaled(self, ticket: Ticket) -> bool:
        """Whether the loss was scaled for half precision: the gradients are then as big as the scale of the day."""
        eager = {} if ticket.episode is None else ticket.episode.scaled
        traced = {} if ticket.tf_graph is None else self.scaled.get(ticket.tf_graph, {})
        return any(target in eager or target in traced for target in ticket.entry.targets)

    def _is_followed(self, entry: RequestEntry, position: int, gradient: Any) -> bool:
        if position >= len(entry.sources) or gradient is None or entry.sources[position].variable is None:
            return False
        values = gradient if compat.is_tensor(gradient) else getattr(gradient, "values", None)
        return values is not None and compat.is_tensor(values) and values.dtype.is_floating

    def _look(self, entry: RequestEntry, place: Place, *, late: bool = False) -> None:
        with self.recorder.pausing():
            for i in place.positions:
                known = self.variables.entries.get(entry.sources[i].variable or 0)
                if known is not None:
                    self.stillness.look(known, late=late)

    def _sizes(self, entry: RequestEntry, place: Place) -> Sizes:
        ran, steps, norms, last = place.numbers.read()
        if not len(steps):
            return Sizes()
        readers = Readers(entry.graph) if len(steps) > 1 else None  # one step says nothing of a layer
        found, start = dict[int, GradientNumbers](), 0
        for column, (position, size) in enumerate(zip(place.positions, place.numbers.units, strict=True)):
            number = entry.sources[position].variable or 0
            mine, start = last[start : start + size], start + size
            order, activation, where = (0, "", None) if readers is None else readers.place(number)
            found[position] = GradientNumbers(
                norms=tuple(norms[:, column].tolist()),
                order=order,
                units=size or None,
                silent=int(np.sum(mine < steps[len(steps) // 2])) if size and len(steps) > 1 else None,
                weight=self.stillness.norms.get(number),
                moved=self.stillness.has_moved(number),
                blank=self.stillness.is_blank(number),
                activation=activation,
                activated=where,
            )
        return Sizes(tuple(map(int, steps)), ran, tuple(norms[:, -1].tolist()), found)


def key_of(entry: RequestEntry) -> Key:
    """The same for requests of one place that ask for the same variables."""
    return (entry.place, entry.compiled, tuple(source.variable for source in entry.sources))


def _units(gradient: Any) -> int:
    """How many elements a gradient has that is followed one by one: that of a bias."""
    if not compat.is_tensor(gradient) or gradient.shape.rank != 1:
        return 0
    size = gradient.shape[0]
    return int(size) if size is not None and size <= _MOST_UNITS else 0
