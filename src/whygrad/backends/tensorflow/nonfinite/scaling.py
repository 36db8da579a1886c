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
from whygrad.backends.tensorflow.log.updates import Updates
from whygrad.backends.tensorflow.log.variables import VariableBook
from whygrad.backends.tensorflow.measure.finite import array_of, tensor_of
from whygrad.backends.tensorflow.nonfinite.replay.step_histories import ScaledLosses
from whygrad.backends.tensorflow.nonfinite.replay.step_history import StepHistory
from whygrad.graph import OpKind
from whygrad.graph.nonfinite import SEVERAL, Occurrence, Scaled, Scaling
from whygrad.observe.place import span


@dataclass(slots=True)
class Unscaled:
    """Updates at one place before which no loss was scaled."""

    optimizer: Any  # weakly
    event: Scaled
    variable: int | None  # the one that holds the scale
    traced: bool
    seen: int = 1


@dataclass(slots=True)
class ScaleWatch:
    """Follows every loss that is scaled, and every update by an optimizer that wants that."""

    recorder: Recorder
    variables: VariableBook
    requests: Requests
    updates: Updates
    losses: ScaledLosses
    scalers: list[type]  # classes of optimizers that divide by a loss scale
    found: dict[Any, Unscaled] = field(default_factory=dict)
    calls: weakref.WeakKeyDictionary[Any, int] = field(default_factory=weakref.WeakKeyDictionary)
    ever: weakref.WeakSet[Any] = field(default_factory=weakref.WeakSet)

    def scaled(self, optimizer: Any, loss: Any, result: Any) -> None:
        """A traced function may be the one that scales for another: which update it was for is not known."""
        before, after = compat.id_of(loss), compat.id_of(result)
        graph, episode = compat.current_graph(), self.recorder.episode
        if before is not None and after is not None:
            if graph is not None:
                self.losses.setdefault(graph, {})[after] = before
            elif episode is not None:
                episode.scaled[after] = before
        self.calls[optimizer] = self.calls.get(optimizer, 0) + 1
        self.ever.add(optimizer)
        for key in [key for key, each in self.found.items() if each.traced and each.optimizer() is optimizer]:
            del self.found[key]

    def updating(self, optimizer: Any, place: Any) -> None:
        """Before an eager update some loss must have been scaled since the last one."""
        if not hasattr(optimizer, "scale_loss"):  # before Keras 3 the user unscales too, by hand
            return
        calls, variable = self.calls.pop(optimizer, 0), self._variable_of(optimizer)
        if calls or (variable is not None and self._is_read_eagerly(variable)):
            return
        known = self.found.get((id(optimizer), place))
        if known is None:
            self._add(optimizer, place)
        else:
            known.seen += 1

    def traced(self, optimizer: Any, place: Any) -> None:
        """An update is traced; one for which no loss is ever scaled is reported in the end."""
        if hasattr(optimizer, "scale_loss") and optimizer not in self.ever:
            self._add(optimizer, place, traced=True)

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

    def _add(self, optimizer: Any, place: Any, *, traced: bool = False) -> None:
        scale = getattr(optimizer, "dynamic_scale", None)
        first = getattr(optimizer, "initial_scale", None)
        value = None if scale is None or traced else array_of(tensor_of(scale))
        request = next(reversed(self.requests.entries.values()), None)
        event = Scaled(
            how=Scaling.DIVIDED,
            where=span(place),
            factor=float(value) if value is not None else float(first) if isinstance(first, (int, float)) else None,
            optimizer=str(getattr(optimizer, "name", type(optimizer).__name__)),
            when=Occurrence(request=None if request is None else span(request.place)),
        )
        variable = self._variable_of(optimizer)
        self.found[(id(optimizer), place)] = Unscaled(weakref.ref(optimizer), event, variable, traced)

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
        if not each.traced:
            return True
        variable = each.variable if each.variable is not None else self._variable_of(each.optimizer())
        return variable is not None and not self._is_read_in_a_trace(variable) and not self._is_read_eagerly(variable)

    def events(self) -> Iterator[Scaled]:
        for each in self.found.values():
            if self._is_certain(each):
                yield replace(each.event, when=replace(each.event.when, seen=each.seen))


def _never_applied(optimizer: Any) -> bool:
    """The optimizer inside counts the updates that were not skipped."""
    counter = getattr(getattr(optimizer, "inner_optimizer", None), "iterations", None)
    count = None if counter is None else array_of(tensor_of(counter))
    return count is not None and int(count) == 0
