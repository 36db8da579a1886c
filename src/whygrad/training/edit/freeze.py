"""`Freeze` and `Unfreeze`: layers that train only after, or only until, a certain step."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from whygrad.arguments import check_whole
from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.keras.inspection import all_layers
from whygrad.backends.tensorflow.measure.graph_building import choose
from whygrad.errors import UsageError
from whygrad.training.edit.owned_variables import Pattern, first_values, fits, selected, variables_of
from whygrad.training.edit.planned_edit import Held, Logs, PlannedEdit
from whygrad.training.replicas import copy_of, scope_of, write
from whygrad.training.wrapping.delegating import check_optimizer


class _Hold(PlannedEdit):
    """Variables that stand still from one step to another.

    In `fit` the layers' `trainable` flag is set and the step compiled again, so that no gradient is computed for them;
    the optimizer keeps their slots as they are. In a loop of your own, where the flag would come too late for a traced
    step, `step()` writes the variables and their slots back after each update.
    """

    def __init__(
        self, model: Any, layers: Pattern | None, begin: int, end: int | None, optimizer: Any, name: str | None
    ) -> None:
        check_whole("at", begin if end is None else end, least=0, help="`at` is a number of steps")
        if optimizer is not None:
            check_optimizer(optimizer)
        chosen = _layers(model, layers)
        own = [layer.variables for layer in chosen] if chosen else selected(variables_of(model), layers)
        variables = variables_of(own)
        if not variables:
            raise UsageError("there is nothing to freeze yet", help="build the model first, by calling it on a batch")
        super().__init__(variables, name=name)
        self._begin, self._end = begin, end
        self._held = Held(variables, owner=(optimizer, model))
        self._chosen = Held((), owner=chosen)
        self._stands: bool | None = None  # as the flags were set last
        self._traced: bool | None = None  # as they were when the step was compiled
        with tf.init_scope(), scope_of(variables):
            self.values = [copy_of(variable, "held") for variable in variables]
        self.slots: list[Any] = []
        self._begun = False
        self._kept()

    # -- in a loop ---------------------------------------------------------------------------------

    def _act(self, now: Any, times: Any) -> None:
        kept = self._kept()
        held = now > self._begin
        if self._end is not None:
            held = tf.logical_and(held, now - times < self._end)
        if self._begin:
            taken = tf.logical_and(now >= self._begin, now - times < self._begin)
            choose(taken, lambda: _copy(kept, back=False), lambda: None)
            held = tf.logical_and(held, tf.logical_not(taken))
        choose(held, lambda: _copy(kept, back=True), lambda: None)

    def _kept(self) -> list[tuple[Any, Any]]:
        """(variable, copy), the slots included as soon as there are some."""
        optimizer = self._held.optimizer
        slots = [] if optimizer is None else [s for v in self._held.variables for s in compat.slots_of(optimizer, v)]
        if len(slots) > len(self.slots):
            firsts: list[Any] = [None] * len(slots)
            if self._begun:  # the slots may have moved already
                firsts = [f for v in self._held.variables for f in first_values(optimizer, v)]
            with tf.init_scope(), scope_of(slots):
                self.slots = [copy_of(slot, "held", first) for slot, first in zip(slots, firsts, strict=True)]
        self._begun = True
        return [*zip(self._held.variables, self.values, strict=True), *zip(slots, self.slots, strict=True)]

    # -- in fit ------------------------------------------------------------------------------------

    def on_train_begin(self, logs: Logs = None) -> None:
        self._stands = None  # tf_keras puts all flags back when a `fit` ends
        self._flag(int(self.steps.numpy()))

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        self.steps.assign_add(self._made(batch))
        self._flag(int(self.steps.numpy()))

    def _flag(self, now: int) -> None:
        stands = now >= self._begin and (self._end is None or now < self._end)
        if stands == self._stands:
            return
        self._stands = stands
        for layer in self._chosen.owner:
            layer.trainable = not stands
        optimizer = self._held.optimizer
        if not stands and optimizer is not None and getattr(optimizer, "built", True):
            compat.extend(optimizer, [v for layer in self._chosen.owner for v in layer.trainable_variables])
        if stands != bool(self._traced):
            compat.retrace_training(self.model)
        self._traced = stands


class Freeze(_Hold):
    """Layers train until step `at` and stand still from then on, statistics of batch normalisation included.

    `layers` is a pattern of layer names (`"encoder"`, `"block_*"`), a list of them, or a function of the layer; without
    it, the whole model. In a loop of your own pass the `optimizer`, so that its slots stand still too, and call
    `step()` after each update.
    """

    def __init__(
        self, model: Any, layers: Pattern | None = None, *, at: int = 0, optimizer: Any = None, name: str | None = None
    ) -> None:
        super().__init__(model, layers, at, None, optimizer, name)


class Unfreeze(_Hold):
    """Layers stand still until step `at` and train from then on, with fresh slots in the optimizer.

    Leave their `trainable` flag alone: this sets it in `fit`, and a loop of your own lists them from the start. An Adam
    that is already many steps old corrects the bias of these fresh slots no more, so their first updates are larger:
    lower the learning rate for a few hundred steps if that matters.
    """

    def __init__(
        self, model: Any, layers: Pattern | None = None, *, at: int, optimizer: Any = None, name: str | None = None
    ) -> None:
        check_whole("at", at, least=0, help="`at` is a number of steps")
        super().__init__(model, layers, 0, at, optimizer, name)


def _layers(model: Any, pattern: Pattern | None) -> list[Any]:
    """The layers that are meant, without those inside one that is meant already."""
    if isinstance(model, type) or not hasattr(model, "trainable"):
        return []
    if pattern is None:
        return [model]
    found = [layer for layer in all_layers(model) if layer is not model and fits(layer, pattern)]
    if not found:
        names = ", ".join(f"`{layer.name}`" for layer in all_layers(model)[1:6])
        raise UsageError(f"no layer matches {pattern!r}", help=f"the model has {names}")
    inside = {id(inner) for layer in found for inner in all_layers(layer) if inner is not layer}
    return [layer for layer in found if id(layer) not in inside]


def _copy(pairs: list[tuple[Any, Any]], *, back: bool) -> None:
    for variable, copy in pairs:
        target, source = (variable, copy) if back else (copy, variable)
        write(target, lambda _, value: value, source)
