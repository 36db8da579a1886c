"""Sparse gradients that optimizers are given: a sample of each in which some row is repeated.

The sample is compared at the end of the run, on copies, so that the training is not held up by it.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.backends.tensorflow.log.updates import UpdateEntry
from whygrad.backends.tensorflow.log.variables import VariableBook
from whygrad.backends.tensorflow.measure.own_thread import in_own_thread
from whygrad.backends.tensorflow.numbers.kept_turns import is_kept
from whygrad.backends.tensorflow.numbers.step_numbers import StepNumbers
from whygrad.graph import VariableId
from whygrad.graph.event import VariableStep
from whygrad.observe.place import span

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.measure.duplicate_rows import RepeatedRows
    from whygrad.backends.tensorflow.numbers.sparse_sample import Sample, TracedSample

_MOST: Final = 64  # pairs of an optimizer and a variable
_MOST_ROWS: Final = 256  # of a sample
_LEAST_ROWS: Final = 8
_MOST_NUMBERS: Final = 1 << 16


@dataclass(slots=True)
class _Seen:
    """What one optimizer is given for one variable."""

    update: UpdateEntry
    variable: Any  # weakly
    turn: int = 0
    sample: Sample | None = None
    traced: TracedSample | None = None


@dataclass(slots=True)
class SparseUpdates:
    variables: VariableBook
    numbers: StepNumbers
    _seen: dict[tuple[int, int], _Seen] = field(default_factory=dict)
    _hooks: Hooks = field(default_factory=Hooks)

    def note(self, update: UpdateEntry, gradients: Sequence[Any], variables: Sequence[Any], _: FrameType) -> None:
        """An optimizer is about to be given these gradients."""
        if not update.stateful or hasattr(update.reference(), "wrapped"):
            return
        for gradient, variable in zip(gradients, variables, strict=False):
            if gradient is not None and not compat.is_tensor(gradient) and hasattr(gradient, "indices"):
                self._hooks.safely(self._note, update, gradient, variable)

    def events(self) -> Iterator[VariableStep]:
        """For each variable whose gradient had repeated rows: how far its step is from that of the dense gradient."""
        for (_, variable), seen in self._seen.items():
            found = self._hooks.safely(self._compared, seen)
            if found is not None:
                yield VariableStep(
                    variable=VariableId(variable),
                    optimizer=type(seen.update.reference()).__name__,
                    where=span(seen.update.place),
                    made=span(seen.update.made),
                    rows=found.rows,
                    repeated=found.repeated,
                    difference=found.difference,
                )

    def _note(self, update: UpdateEntry, gradient: Any, variable: Any) -> None:
        entry, room = self.variables.of(variable), _room(gradient)
        if entry is None or room < _LEAST_ROWS:
            return
        key = update.optimizer_id, entry.id
        seen = self._seen.get(key)
        if seen is None:
            if len(self._seen) >= _MOST:
                return
            seen = self._seen[key] = _Seen(update, weakref.ref(variable))
        if compat.current_graph() is None:
            _run(seen, gradient, room)
        else:
            self._trace(seen, gradient, room)

    def _trace(self, seen: _Seen, gradient: Any, room: int) -> None:
        from whygrad.backends.tensorflow.numbers.sparse_sample import TracedSample

        means = self.numbers.means(sys._getframe(1))
        if means is None:
            return
        with compat.unrecorded():
            if seen.traced is None:
                seen.traced = TracedSample(gradient, room)
            seen.traced.write(gradient, means)

    def _compared(self, seen: _Seen) -> RepeatedRows | None:
        sample = seen.sample or (None if seen.traced is None else seen.traced.read())
        optimizer, variable = seen.update.reference(), seen.variable()
        if sample is None or optimizer is None or variable is None:
            return None
        from whygrad.backends.tensorflow.numbers.sparse_sample import compared

        return in_own_thread(lambda: compared(optimizer, sample, variable))


def _run(seen: _Seen, gradient: Any, room: int) -> None:
    turn, seen.turn = seen.turn, seen.turn + 1
    if seen.sample is None and is_kept(turn):
        rows = gradient.indices.numpy()[:room]
        if len(np.unique(rows)) < len(rows):
            seen.sample = rows, gradient.values.numpy()[:room]


def _room(gradient: Any) -> int:
    """How many rows of a gradient are kept."""
    width = gradient.values.shape[1:].num_elements()
    return 0 if width is None else min(_MOST_ROWS, _MOST_NUMBERS // max(1, width))
