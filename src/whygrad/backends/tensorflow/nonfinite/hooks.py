"""Hooks that only the search for NaN and Inf needs: calls of compiled functions, optimizers and the losses they scale.

Each names the part it tells by a function, which makes the part when it is first told something.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.listen.gradient_calls import hear_updates
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.backends.tensorflow.listen.op_listener import OpListener
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.updates import Updates
from whygrad.backends.tensorflow.nonfinite.known_step import KnownStep
from whygrad.backends.tensorflow.nonfinite.replay.step_histories import StepHistories
from whygrad.backends.tensorflow.nonfinite.updating import UpdateWatch


def install(
    hooks: Hooks,
    recorder: Recorder,
    listener: OpListener,
    histories: Callable[[], StepHistories],
    known_steps: dict[int, KnownStep],
) -> None:
    """Stand around every call of a compiled function, and around the values that `fit` takes out of one."""

    called, known, unheard, is_alone = recorder.calling, known_steps, listener.unheard, listener.is_alone

    def calling(original: Any) -> Any:
        def call_flat(self: Any, *args: Any) -> Any:
            step = known.get(id(self))
            if step is not None and step.takes(args, hooks):
                called.passing = step
                try:
                    if step.call is not None and is_alone() and not compat.may_be_cancelled():
                        results = step.call(args)
                    else:
                        results = unheard(original, self, *args)
                except Exception:
                    hooks.safely(setattr, step.history, "died", True)
                    raise
                step.ran(args, results, hooks)
                return results
            if not compat.runs_eagerly():
                return original(self, *args)
            called.passing = None
            history = hooks.safely(lambda: histories().before(self, args))
            around, called.graph = getattr(called, "graph", None), None if history is None else history.graph
            try:
                results = original(self, *args)
            except Exception:
                if history is not None:
                    history.died = True
                raise
            finally:
                called.graph = around
            if history is not None:
                hooks.safely(histories().after, history, results)
            return results

        return call_flat

    def passing(optional: Any) -> KnownStep | None:
        """The step that passed just now, where this is its result."""
        step: KnownStep | None = getattr(called, "passing", None)
        return step if step is not None and step.gave(compat.variant_of(optional)) else None

    def opening(original: Any) -> Any:
        def get_value(self: Any, name: Any = None) -> Any:
            step = passing(self)
            if step is not None:
                found = step.open(self) if name is None and is_alone() else None
                if found is None:
                    value = unheard(original, self, name)
                    tensors = [each for each in compat.flatten(value) if compat.id_of(each) is not None]
                else:
                    value, tensors = found
                hooks.safely(step.opened, tensors)
                return value
            value = original(self, name)
            latest = histories().latest
            if latest is not None and compat.runs_eagerly():
                hooks.safely(histories().after, latest, compat.flatten(value), "optional")
            return value

        return get_value

    hooks.replace(compat.AtomicFunction, "call_flat", calling)
    hooks.replace(compat.Optional, "get_value", opening)


def scalers_of(module: ModuleType) -> list[Any]:
    """The optimizers that scale losses: in `optimizers` since Keras 3, in `mixed_precision` before."""
    found = getattr(module.optimizers, "LossScaleOptimizer", None)
    found = found or getattr(getattr(module, "mixed_precision", None), "LossScaleOptimizer", None)
    return [] if found is None else [found, *found.__subclasses__()]


def join(
    hooks: Hooks, updates: Updates, watch: Callable[[], UpdateWatch], module: ModuleType, scalers: list[Any]
) -> None:
    """Hook one Keras: where optimizers are made, and which losses are scaled."""

    def note_made(optimizer: Any, frame: FrameType) -> None:
        watch().made[optimizer] = watch().recorder.places.at(frame)

    def note_scaled(optimizer: Any, loss: Any, result: Any) -> None:
        watch().scale_watch.scaled(optimizer, loss, result)

    def making(original: Any) -> Any:
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            hooks.safely(note_made, self, sys._getframe(1))
            original(self, *args, **kwargs)

        return __init__

    def scaling(original: Any) -> Any:
        def scale(self: Any, loss: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(self, loss, *args, **kwargs)
            hooks.safely(note_scaled, self, loss, result)
            return result

        return scale

    hooks.replace(module.optimizers.Optimizer, "__init__", making)
    for scaler in scalers:
        for method in ("apply", "apply_gradients"):
            if method in vars(scaler):
                hear_updates(hooks, scaler, method, updates)
        for method in ("scale_loss", "get_scaled_loss"):
            if method in vars(scaler):
                hooks.replace(scaler, method, scaling)
