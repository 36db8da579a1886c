"""Updates: which gradient an optimizer is given for which variable."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.lineage import origins, origins_of

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture
    from whygrad.backends.tensorflow.recorder import OpRecord
    from whygrad.backends.tensorflow.variables import VariableEntry

KEPT_PER_PLACE = 64


@dataclass(slots=True)
class PairEntry:
    variable: int
    gradient_of: frozenset[int] | None
    missing: bool


@dataclass(slots=True)
class UpdateEntry:
    place: Any
    optimizer: str
    optimizer_id: int
    pairs: tuple[PairEntry, ...]
    unknown: tuple[int, ...]
    order: int
    count: int = 1


class Updates:
    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self.entries: dict[Any, UpdateEntry] = {}
        self.per_place: dict[Any, int] = {}
        self.depth = 0
        self.total = 0

    def begin(self, optimizer: Any, gradients: Any, variables: Any) -> bool:
        """Log the update; the optimizer's own ops are of no interest and are not logged."""
        self.depth += 1
        if self.depth > 1:
            return False
        recorder = self.capture.recorder
        place = recorder._place(sys._getframe(3))
        gradients = list(gradients)
        known = list(variables) if variables is not None else list(getattr(optimizer, "_trainable_variables", ()))
        pairs = tuple(
            PairEntry(entry.id, self._origin(gradient), gradient is None)
            for gradient, variable in zip(gradients, known, strict=False)
            if (entry := self.capture.variables.of(variable)) is not None
        )
        self._keep(UpdateEntry(place, _name(optimizer), id(optimizer), pairs, self._unknown(optimizer, known), recorder.now + 1))
        inputs = [number for g in gradients if (number := getattr(getattr(g, "values", g), "_id", None)) is not None]
        record = recorder.add_virtual("ApplyGradients", inputs, (), place, self.capture.current_graph())
        record.attrs = tuple(pair.variable for pair in pairs if not pair.missing)
        recorder.paused += 1
        return True

    def wrote(self, entry: VariableEntry, record: OpRecord) -> None:
        """A user's own update: `w.assign_sub(rate * gradient)`."""
        if len(record.inputs) < 2:
            return
        found = origins_of(self.capture, record.inputs[1])
        if found is not None:
            pair = PairEntry(entry.id, found, False)
            self._keep(UpdateEntry(record.place, record.type, 0, (pair,), (), record.sequence))

    def end(self, began: bool | None) -> None:
        self.depth -= 1
        if began:
            self.capture.recorder.paused -= 1
            if self.capture.current_graph() is None:
                self.capture.recorder.end_generation()

    def _origin(self, gradient: Any) -> frozenset[int] | None:
        return origins(self.capture, gradient)

    def _unknown(self, optimizer: Any, variables: list[Any]) -> tuple[int, ...]:
        """Variables that a built Keras 3 optimizer does not know."""
        built_for = getattr(optimizer, "_trainable_variables", None)
        if not getattr(optimizer, "built", False) or not built_for:
            return ()
        book = self.capture.variables
        mine = {entry.id for variable in built_for if (entry := book.of(variable)) is not None}
        found = (book.of(variable) for variable in variables)
        return tuple(entry.id for entry in found if entry is not None and entry.id not in mine)

    def _keep(self, entry: UpdateEntry) -> None:
        self.total += 1
        key = (entry.place, entry.optimizer_id, tuple((p.variable, p.gradient_of, p.missing) for p in entry.pairs), entry.unknown)
        known = self.entries.get(key)
        if known is not None:
            known.count += 1
            return
        kept = self.per_place.get(entry.place, 0)
        if kept < KEPT_PER_PLACE:
            self.per_place[entry.place] = kept + 1
            self.entries[key] = entry


def _name(optimizer: Any) -> str:
    return str(getattr(optimizer, "name", None) or type(optimizer).__name__)


def install(capture: Capture, base: Any, method: str) -> None:
    """Hook `apply(gradients, variables)` of Keras 3, or `apply_gradients(pairs)` of tf_keras."""
    hooks, updates = capture.hooks, capture.updates

    def wrap_apply(original: Any) -> Any:
        def apply(self: Any, grads: Any, trainable_variables: Any = None, **kwargs: Any) -> Any:
            began = hooks.safely(updates.begin, self, grads, trainable_variables)
            try:
                return original(self, grads, trainable_variables, **kwargs)
            finally:
                hooks.safely(updates.end, began)

        return apply

    def wrap_pairs(original: Any) -> Any:
        def apply_gradients(self: Any, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
            pairs = list(grads_and_vars)
            began = hooks.safely(updates.begin, self, [g for g, _ in pairs], [v for _, v in pairs])
            try:
                return original(self, pairs, *args, **kwargs)
            finally:
                hooks.safely(updates.end, began)

        return apply_gradients

    hooks.replace(base, method, wrap_apply if method == "apply" else wrap_pairs)
