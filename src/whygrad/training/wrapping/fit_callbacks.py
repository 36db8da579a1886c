"""Callbacks that an optimizer brings along into a running `fit`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from whygrad.backends.tensorflow import compat


class JoiningTrainFunction:
    """`model.train_function` that makes sure, at each call, that the running `fit` has our callbacks.

    Keras caches `train_function` on the model and drops it in `compile`, so this lives exactly as long as the compiled
    step that holds the optimizer.
    """

    def __init__(self, function: Callable[..., Any], model: Any) -> None:
        self.function = function
        self.model = model
        self.callbacks: list[Any] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.join(sys._getframe(1))
        return self.function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "function":
            raise AttributeError(name)
        return getattr(self.function, name)

    def join(self, frame: FrameType) -> None:
        """Have the callbacks called by the `fit` of a frame."""
        running = compat.callback_list_of(frame, self.model)
        if running is None:
            return
        for callback in self.callbacks:
            if callback not in running.callbacks:
                callback.set_model(self.model)
                callback.set_params(running.params)
                running.callbacks.insert(0, callback)


def model_in_training() -> Any:
    """The model whose `train_step` calls, where it has a `train_function` to stand around; else None."""
    step = compat.enclosing_train_step()
    return None if step is None or getattr(step.model, "train_function", None) is None else step.model


def join_fit(model: Any, callback: Any) -> FrameType | None:
    """Have a callback called in the running `fit` and those to come; the frame of that `fit`, None under no `fit`."""
    joining = model.train_function
    if callback is not None and callback not in joining.callbacks:
        joining.callbacks.append(callback)
    fit = compat.enclosing_fit(model)
    if fit is not None:
        joining.join(fit)
    return fit
