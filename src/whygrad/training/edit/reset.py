"""`Reset`: put variables, and what the optimizer remembers of them, back to a starting point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from whygrad.arguments import check_callable, check_whole
from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.measure.graph_building import choose
from whygrad.errors import UsageError
from whygrad.training.edit.owned_variables import Pattern, first_values, trained
from whygrad.training.edit.planned_edit import Held, PlannedEdit
from whygrad.training.replicas import copy_of, scope_of, summed_over_workers, write
from whygrad.training.wrapping.delegating import check_optimizer

When = int | Callable[[Any], Any]


class Reset(PlannedEdit):
    """Set variables back when a condition holds after a step: to what they were at first, or to `to(variable)`.

    `when` is a function of the step (a tensor; it may read any variable and returns a true or false one), or the number
    of one step. `every=n` without `when` resets every n steps. The optimizer's slots of these variables (moments) are
    set to their first values, so that old momentum does not carry on: pass `optimizer`, or a compiled model.
    `resets` counts. Of several workers the first is asked, and all do as it says.
    """

    def __init__(
        self,
        model: Any,
        when: When | None = None,
        *,
        to: Callable[[Any], Any] | None = None,
        optimizer: Any = None,
        layers: Pattern | None = None,
        every: int = 1,
        name: str | None = None,
    ) -> None:
        if when is None and every == 1:
            raise UsageError("a reset needs a condition", help="`when=lambda step: ...`, `when=1000` or `every=1000`")
        if when is not None and not callable(when):
            check_whole("when", when, least=0, help="`when` is the number of a step, or a function of it")
        if to is not None:
            check_callable("to", to, help="`to` takes a variable and returns its new value: `to=tf.zeros_like`")
        if optimizer is not None:
            check_optimizer(optimizer)
        variables = trained(model, layers)
        super().__init__(variables, every=every, name=name)
        self._when, self._to = when, to
        self._held = Held(variables, owner=(optimizer, model))
        self._first_slots: dict[int, Any] = {}
        with tf.init_scope(), scope_of(variables):
            self.resets = tf.Variable(0, dtype=tf.int64, trainable=False, name="resets")
            self.values = [copy_of(variable, "start") for variable in (variables if to is None else ())]

    def _act(self, now: Any, times: Any) -> None:
        if self._when is None:
            self.reset()
            return
        if callable(self._when):
            asked = tf.cast(tf.convert_to_tensor(self._when(now)), tf.int32)
            due = summed_over_workers(asked, self._held.variables, of_the_first=True)
        else:
            due = tf.logical_and(now >= self._when, now - times < self._when)
        choose(tf.cast(due, tf.bool), self.reset, lambda: None)

    def reset(self) -> None:
        """Reset now, whatever the condition."""
        for i, variable in enumerate(self._held.variables):
            if self._to is None:
                write(variable, lambda _, start: start, self.values[i])
            else:
                value = summed_over_workers(self._to(variable), (variable,), of_the_first=True)
                write(variable, lambda _, value=value: value)
        for slot, first in self._slots():
            write(slot, lambda own, first=first: tf.broadcast_to(tf.cast(first, own.dtype), tf.shape(own)))
        self.resets.assign_add(1)

    def _slots(self) -> list[tuple[Any, Any]]:
        optimizer = self._held.optimizer
        if optimizer is None:
            return []
        found = []
        for variable in self._held.variables:
            slots = compat.slots_of(optimizer, variable)
            key = id(compat.native(variable))
            if slots and key not in self._first_slots:
                self._first_slots[key] = first_values(optimizer, variable)
            found += list(zip(slots, self._first_slots.get(key, ()), strict=False))
        return found
