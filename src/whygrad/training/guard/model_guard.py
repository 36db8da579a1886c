"""A guard around a model's optimizer for the time of a `fit`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from whygrad.training.guard.guard import guard

if TYPE_CHECKING:
    from whygrad.store import RunWriter


class ModelGuard:
    """Put on when training begins, taken off when it ends; what it held back is an event of the run."""

    def __init__(self, mode: str, patience: int | None) -> None:
        self._mode = mode
        self._patience = patience
        self._model: Any = None
        self._optimizer: Any = None  # the model's own

    def put_on(self, model: Any) -> None:
        if self._model is not None or hasattr(model.optimizer, "guarding"):
            return
        guarded = guard(model.optimizer, self._mode, patience=self._patience)
        self._model, self._optimizer = model, model.optimizer
        model.optimizer = guarded

    def take_off(self, writer: RunWriter) -> None:
        if self._model is None:
            return
        guarded, self._model.optimizer = self._model.optimizer, self._optimizer
        self._model = self._optimizer = None
        for bad in guarded.bad_steps:
            writer.add_event("held back", {"step": bad.step, "variables": list(bad.variables)}, bad.step - 1)
        if guarded.bad_steps:
            print(guarded.report(), file=sys.stderr)
