"""How big the gradient is that each term of a loss gives to each variable: one backward pass a term, on request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.requests import RequestEntry, Requests, Ticket
from whygrad.backends.tensorflow.log.tapes import Tapes
from whygrad.backends.tensorflow.measure.finite import square_sum
from whygrad.backends.tensorflow.measure.hidden_variable import hidden_variable, keep_with_graph
from whygrad.backends.tensorflow.numbers.step_numbers import Key, key_of
from whygrad.graph import Request, Source, TapeId, TensorId, TermNumbers, VariableId
from whygrad.graph.questions.terms import terms_of

_FIRST: Final = 16  # eager steps that are all measured; after them those whose number is a power of two
_MOST_TENSORS: Final = 1 << 17

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(slots=True)
class _Place:
    """Sums over the measured steps of the squares of the gradients: a row a term, a column a source."""

    turn: int = 0
    measured: int = 0
    squares: Any = None  # an array, or a hidden variable that the compiled step adds to; its last row counts


class TermNorms:
    def __init__(self, recorder: Recorder, tapes: Tapes, requests: Requests) -> None:
        self._recorder, self._tapes, self._requests = recorder, tapes, requests
        self._tensors: dict[int, Any] = {}
        self._was_recording = False
        self._places: dict[Key, _Place] = {}
        self._hooks = Hooks()

    def keep(self, outputs: Sequence[Any]) -> None:
        """Hold what was computed while a tape records: a term is found when the gradient is asked for."""
        is_recording = bool(self._recorder.tapes)
        if is_recording and not self._was_recording:
            self._tensors.clear()  # another step has begun
        self._was_recording = is_recording
        if is_recording and len(self._tensors) < _MOST_TENSORS:
            self._tensors.update((compat.tensor_id(tensor), tensor) for tensor in outputs)

    def ran(self, ticket: Ticket, gradients: Sequence[Any], squares: Sequence[float]) -> None:
        """An eager request was answered."""
        place = self._place(ticket.entry)
        place.turn += 1
        if place.turn <= _FIRST or not place.turn & (place.turn - 1):
            self._measured(ticket, lambda rows: _add(place, np.array([[_square(g) for g in row] for row in rows])))

    def traced(self, ticket: Ticket, gradients: Sequence[Any]) -> None:
        """A request was answered in a graph: from now on the graph adds up the squares itself."""
        self._measured(ticket, lambda rows: self._trace(self._place(ticket.entry), rows))

    def of(self, entry: RequestEntry) -> TermNumbers | None:
        place = self._places.get(key_of(entry))
        if place is None or place.squares is None:
            return None
        sums = np.asarray(place.squares, np.float64)
        steps = place.measured or int(sums[-1, 0])
        rows = sums if place.measured else sums[:-1]
        return (
            TermNumbers(steps=steps, squares=tuple(tuple(map(float, row / steps)) for row in rows)) if steps else None
        )

    def _place(self, entry: RequestEntry) -> _Place:
        return self._places.setdefault(key_of(entry), _Place())

    def _measured(self, ticket: Ticket, take: Callable[[list[list[Any]]], None]) -> None:
        def measure() -> None:
            rows = self._rows(ticket)
            if rows:
                take(rows)

        if ticket.entry.method == "gradient" and ticket.recorded is not None and ticket.output_gradients is None:
            with compat.unrecorded(), self._recorder.pausing():
                self._hooks.safely(measure)

    def _rows(self, ticket: Ticket) -> list[list[Any]]:
        """The gradients that each group of terms gives to the sources, as much of it as enters the loss."""
        groups = [[self._tensors.get(tensor) for tensor in group or (TensorId(-1),)] for group in self._groups(ticket)]
        if len(groups) < 2 or any(tensor is None for group in groups for tensor in group):
            return []
        flat = [tensor for group in groups for tensor in group]
        weights = dict(zip(map(id, flat), compat.gradients_on(ticket.recorded, ticket.raw_targets, flat), strict=True))
        rows = []
        for group in groups:
            known = [(tensor, weights[id(tensor)]) for tensor in group if weights[id(tensor)] is not None]
            given = [weight for _, weight in known]
            asked = [tensor for tensor, _ in known]
            none = [None] * len(ticket.raw_sources)
            rows.append(compat.gradients_on(ticket.recorded, asked, ticket.raw_sources, given) if asked else none)
        return rows

    def _groups(self, ticket: Ticket) -> list[list[TensorId] | None]:
        entry = replace(ticket.entry, sources=[replace(source) for source in ticket.entry.sources])
        graph = self._requests.freeze(entry, self._tapes.of(ticket.tape), ticket.tf_graph)
        sources = tuple(
            Source(
                variable=None if source.variable is None else VariableId(source.variable),
                tensor=None if source.tensor is None else TensorId(source.tensor),
            )
            for source in entry.sources
        )
        targets = tuple(TensorId(target) for target in entry.targets)
        terms = terms_of(Request(tape=TapeId(entry.tape), targets=targets, sources=sources, graph=graph))
        return [terms.measurable(group, sources) for _, group in terms.groups(sources)]

    def _trace(self, place: _Place, rows: list[list[Any]]) -> None:
        import tensorflow as tf

        squares = [[_symbolic_square(gradient) for gradient in row] for row in rows]
        count = len(squares[0])
        if place.squares is None:
            place.squares = hidden_variable(np.zeros((len(rows) + 1, count)), dtype=tf.float32, name="terms")
        if tuple(place.squares.shape) == (len(rows) + 1, count):
            keep_with_graph(place.squares)
            place.squares.assign_add(tf.stack([*map(tf.stack, squares), tf.ones(count)]))


def _add(place: _Place, squares: Array) -> None:
    if place.squares is None or place.squares.shape == squares.shape:
        place.squares = squares if place.squares is None else place.squares + squares
        place.measured += 1


def _square(gradient: Any) -> float:
    return 0.0 if gradient is None else square_sum(gradient)


def _symbolic_square(gradient: Any) -> Any:
    import tensorflow as tf

    if gradient is None:
        return tf.constant(0.0)
    values = tf.convert_to_tensor(gradient)
    return tf.cast(tf.reduce_sum(tf.square(tf.abs(values))), tf.float32)
