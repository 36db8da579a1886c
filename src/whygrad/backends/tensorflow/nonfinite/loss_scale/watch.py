"""Optimizers that divide the gradients by a loss scale: whether the loss was multiplied by it."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.function_graphs import outermost_handle
from whygrad.backends.tensorflow.log.op_table import kind_of
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.requests import Requests
from whygrad.backends.tensorflow.log.updates import UpdateEntry, Updates
from whygrad.backends.tensorflow.log.variables import VariableBook
from whygrad.backends.tensorflow.measure.finite import array_of, tensor_of
from whygrad.backends.tensorflow.nonfinite.loss_scale.descent import Scale, ScaledDescent
from whygrad.backends.tensorflow.nonfinite.replay.step_histories import ScaledLosses
from whygrad.backends.tensorflow.nonfinite.replay.step_history import StepHistory
from whygrad.graph import OpKind
from whygrad.graph.nonfinite import SEVERAL, Occurrence, Scaled, Scaling
from whygrad.observe.label import Asked
from whygrad.observe.pairs import Pair
from whygrad.observe.place import span


@dataclass(slots=True)
class Unscaled:
    """Updates at one place that an optimizer divides by its scale, and whose losses were not multiplied by it."""

    event: Scaled
    optimizer: Any  # weakly
    traced: bool
    variable: int | None  # the one that holds the scale
    waiting: tuple[Pair, ...] = ()  # of a traced update: whose gradients they are shows when it is called
    certain: bool = False  # all ops between the loss and the gradient are known
    excused: bool = False  # some loss was scaled for the optimizer: where one is not certain it may be this one
    seen: int = 1


@dataclass(slots=True)
class ScaleWatch:
    """Follows every loss that is scaled, and asks of the gradients of every update that wants it whether theirs was."""

    recorder: Recorder
    variables: VariableBook
    requests: Requests
    updates: Updates
    losses: ScaledLosses
    scalers: list[type]  # classes of optimizers that divide by a loss scale
    descent: ScaledDescent
    found: dict[Any, Unscaled] = field(default_factory=dict)
    calls: weakref.WeakKeyDictionary[Any, int] = field(default_factory=weakref.WeakKeyDictionary)
    ever: weakref.WeakSet[Any] = field(default_factory=weakref.WeakSet)

    def scaled(self, optimizer: Any, loss: Any, result: Any) -> None:
        """A loss was multiplied by the scale of an optimizer."""
        before, after = compat.id_of(loss), compat.id_of(result)
        graph, episode = compat.current_graph(), self.recorder.episode
        if before is not None and after is not None:
            self.descent.add(after, traced=graph is not None)
            if graph is not None:
                self.losses.setdefault(graph, {})[after] = before
            elif episode is not None:
                episode.scaled[after] = before
        self.calls[optimizer] = self.calls.get(optimizer, 0) + 1
        self.ever.add(optimizer)
        for each in self.found.values():
            each.excused |= each.optimizer() is optimizer

    def updating(self, update: UpdateEntry, gradients: list[Any]) -> None:
        """An optimizer is given gradients, at once or in a trace."""
        optimizer = update.reference()
        if not hasattr(optimizer, "scale_loss"):  # before Keras 3 the user unscales too, by hand
            return
        calls = 0 if update.traced else self.calls.pop(optimizer, 0)
        labels = [(compat.id_of(compat.values_in(each)), self.updates.label_of(each)) for each in gradients]
        scale = self._scale_of(optimizer)
        answers = list(self.descent.of_gradients(labels, scale))
        unscaled = next((asked for answer, asked in answers if answer is False), None)
        if unscaled is None and (calls or any(answer for answer, _ in answers)):
            return
        if unscaled is None and not update.traced and self._is_read_eagerly(scale.variable):
            return
        known = self.found.get((id(optimizer), update.place))
        if known is None or (unscaled is not None and not known.certain):
            self._add(update, scale, unscaled)
        elif known.certain is (unscaled is not None):
            known.seen += not update.traced

    def skips_all(self, history: StepHistory) -> bool:
        """Whether the optimizer of a compiled step has skipped each of several updates."""
        if history.calls < SEVERAL:
            return False
        mine = history.written_variables
        optimizers = [
            None if entry.reference is None else entry.reference()
            for entry in self.updates.entries.values()
            if entry.traced and any(pair.variable in mine for pair in entry.pairs)
        ]
        return any(isinstance(each, tuple(self.scalers)) and _never_applied(each) for each in optimizers)

    def _add(self, update: UpdateEntry, scale: Scale, asked: Asked | None) -> None:
        optimizer, entries = update.reference(), self.requests.entries
        request = next((entry.place for entry in reversed(entries.values())), None) if asked is None else asked.place
        event = Scaled(
            how=Scaling.DIVIDED,
            where=span(update.place),
            factor=scale.factor(now=not update.traced),
            optimizer=str(getattr(optimizer, "name", type(optimizer).__name__)),
            when=Occurrence(request=span(request)),
        )
        self.found[id(optimizer), update.place] = Unscaled(
            event,
            update.reference,
            update.traced,
            scale.variable,
            waiting=update.pairs if update.traced and asked is None else (),
            certain=asked is not None,
            excused=optimizer in self.ever,
        )

    def _scale_of(self, optimizer: Any) -> Scale:
        scale, first = getattr(optimizer, "dynamic_scale", None), getattr(optimizer, "initial_scale", None)
        return Scale(
            variable=self._variable_of(optimizer),
            first=float(first) if isinstance(first, (int, float)) else None,
            present=None if compat.current_graph() is not None else _number_in(scale),
        )

    def _variable_of(self, optimizer: Any) -> int | None:
        scale = getattr(optimizer, "dynamic_scale", None)
        entry = None if scale is None else self.variables.of(scale)
        return None if entry is None else entry.id

    def _is_read_eagerly(self, variable: int | None) -> bool:
        """By hand: `loss * optimizer.dynamic_scale`."""
        return any(variable in record.inputs and record.tapes for record in self.recorder.records)

    def _is_read_in_a_trace(self, variable: int | None) -> bool:
        """By the user's code: what the optimizer itself reads is not logged."""
        for graph, log in list(self.recorder.traces.items()):
            inner = (compat.tensor_id(holder) for _, holder in getattr(graph, "captures", ()))
            mine = {number for number in inner if outermost_handle(number, graph) == variable}
            reads = (record for record in log.records if kind_of(record.type) is OpKind.READ)
            if mine and any(not mine.isdisjoint(record.inputs) for record in reads):
                return True
        return False

    def _is_certain(self, each: Unscaled) -> bool:
        if each.certain:
            return True
        optimizer = each.optimizer()
        scale = Scale(each.variable) if optimizer is None else self._scale_of(optimizer)
        answers = [answer for answer, _ in self.descent.of_gradients([(None, p.label) for p in each.waiting], scale)]
        if False in answers or True in answers:
            return False in answers
        if each.excused or not each.traced:
            return not each.excused
        variable = scale.variable
        return variable is not None and not self._is_read_in_a_trace(variable) and not self._is_read_eagerly(variable)

    def events(self) -> Iterator[Scaled]:
        for each in self.found.values():
            if self._is_certain(each):
                yield replace(each.event, when=replace(each.event.when, seen=each.seen))


def _never_applied(optimizer: Any) -> bool:
    """The optimizer inside counts the updates that were not skipped."""
    return _number_in(getattr(getattr(optimizer, "inner_optimizer", None), "iterations", None)) == 0


def _number_in(variable: Any) -> float | None:
    """What a variable holds; None where a trace that died has made it and given it no value."""
    array = None if variable is None else array_of(tensor_of(variable))
    return None if array is None or array.ndim else float(array)
