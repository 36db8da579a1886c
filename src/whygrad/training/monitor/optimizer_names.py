"""What the optimizers of a model are called in its records."""

from __future__ import annotations

from typing import Any


class OptimizerNames:
    """What to call an optimizer: as the model calls it, where it holds several."""

    def __init__(self, model: Any) -> None:
        self._attributes = {id(value): name for name, value in vars(model).items() if hasattr(value, "apply_gradients")}
        if len(self._attributes) < 2:
            self._attributes = {}
        self._given: dict[int, str] = {}

    def __call__(self, optimizer: Any) -> str:
        if id(optimizer) not in self._given:
            name = self._attributes.get(id(optimizer), "").lstrip("_") or str(getattr(optimizer, "name", "optimizer"))
            taken = set(self._given.values())
            self._given[id(optimizer)] = name if name not in taken else f"{name} ({len(taken) + 1})"
        return self._given[id(optimizer)]
