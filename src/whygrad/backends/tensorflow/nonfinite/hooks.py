"""Hooks that only this part of the capture needs."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.listen.gradient_calls import hear_updates
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.backends.tensorflow.log.updates import Updates
from whygrad.backends.tensorflow.nonfinite.updating import UpdateWatch


def install(hooks: Hooks, updates: Updates, watch: UpdateWatch, module: ModuleType) -> None:
    """Hook one Keras: where optimizers are made, and which losses are scaled."""

    def making(original: Any) -> Any:
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            hooks.safely(_note_made, watch, self, sys._getframe(1))
            original(self, *args, **kwargs)

        return __init__

    def scaling(original: Any) -> Any:
        def scale(self: Any, loss: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(self, loss, *args, **kwargs)
            hooks.safely(_note_scaled, watch, self, loss, result)
            return result

        return scale

    hooks.replace(module.optimizers.Optimizer, "__init__", making)
    for scaler in _scalers(module):
        watch.scale_watch.scalers = (*watch.scale_watch.scalers, scaler)
        for method in ("apply", "apply_gradients"):
            if method in vars(scaler):
                hear_updates(hooks, scaler, method, updates)
        for method in ("scale_loss", "get_scaled_loss"):
            if method in vars(scaler):
                hooks.replace(scaler, method, scaling)


def _scalers(module: ModuleType) -> list[Any]:
    """The optimizers that scale losses: in `optimizers` since Keras 3, in `mixed_precision` before."""
    found = getattr(module.optimizers, "LossScaleOptimizer", None)
    found = found or getattr(getattr(module, "mixed_precision", None), "LossScaleOptimizer", None)
    return [] if found is None else [found, *found.__subclasses__()]


def _note_made(watch: UpdateWatch, optimizer: Any, frame: Any) -> None:
    watch.made[optimizer] = watch.recorder.place_at(frame)


def _note_scaled(watch: UpdateWatch, optimizer: Any, loss: Any, result: Any) -> None:
    watch.scale_watch.scaled(optimizer)
    before, after = compat.id_of(loss), compat.id_of(result)
    graph, episode = compat.current_graph(), watch.recorder.episode
    if before is None or after is None:
        return
    if graph is not None:
        watch.histories.scaled.setdefault(graph, {})[after] = before
    elif episode is not None:
        episode.scaled[after] = before
