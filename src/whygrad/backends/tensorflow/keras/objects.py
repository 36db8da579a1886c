"""Hooks on what is no layer: Keras's variables, losses and optimizers."""

from __future__ import annotations

import sys
import weakref
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.log.positions import span
from whygrad.graph.event import DeadAttribute
from whygrad.source.position import CodeOwner, owner_of

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture
    from whygrad.backends.tensorflow.keras.facts import KerasFacts


def hook_variables(capture: Capture, module: ModuleType) -> None:
    """A Keras 3 variable wraps a TensorFlow one; tf_keras uses TensorFlow's own."""
    variable_class = getattr(module, "Variable", None)
    if variable_class is None:
        return

    def note(variable: Any, frame: FrameType) -> None:
        capture.variables.link_keras(variable, capture.recorder._place(frame))
        made = _made_by_layer(capture.keras, frame)
        if made is None:
            return
        entry = capture.variables.of(variable)
        if entry is not None:
            entry.created = made
        else:  # its value comes later: remember it by the variable
            capture.keras.made_variables[id(variable)] = (weakref.ref(variable), made)

    def wrap(original: Any) -> Any:
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            original(self, *args, **kwargs)
            capture.hooks.safely(note, self, sys._getframe(1))

        return __init__

    capture.hooks.replace(variable_class, "__init__", wrap)


def _made_by_layer(facts: KerasFacts, frame: FrameType | None) -> Any:
    """A ready-made layer's weights are made when it is first called; show where the layer was made instead."""
    while frame is not None and owner_of(frame.f_code) is not CodeOwner.USER:
        if frame.f_code.co_name == "add_weight":
            layer = frame.f_locals.get("self")
            user: FrameType | None = frame
            while user is not None and owner_of(user.f_code) is not CodeOwner.USER:
                user = user.f_back
            own = user is not None and user.f_locals.get("self") is layer
            return None if own else facts.made.get(layer)
        frame = frame.f_back
    return None


def hook_losses(capture: Capture, module: ModuleType) -> None:
    """Which tensor is the label and which the prediction."""

    def note(loss: Any, y_true: Any, y_pred: Any, frame: FrameType) -> None:
        recorder = capture.recorder
        capture.keras.losses_seen.add(loss)
        ids = [item._id for item in (y_pred, y_true) if getattr(item, "_id", None) is not None]
        if recorder.paused or len(ids) < 2:
            return
        graph = capture.current_graph()
        function = getattr(loss, "fn", None) if type(loss).__name__ == "LossFunctionWrapper" else type(loss)
        own = str(getattr(function, "__module__", "")).split(".")[0] in ("keras", "tf_keras")
        name = f"LossCall:{getattr(function, '__name__', type(loss).__name__) if own else 'function'}"
        recorder.add_virtual(name, ids, (), recorder._place(frame), graph)

    def wrap(original: Any) -> Any:
        def __call__(self: Any, y_true: Any, y_pred: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            capture.hooks.safely(note, self, y_true, y_pred, sys._getframe(1))
            return original(self, y_true, y_pred, *args, **kwargs)

        return __call__

    capture.hooks.replace(module.losses.Loss, "__call__", wrap)


def hook_old_names(capture: Capture, module: ModuleType) -> None:
    """Keras 3 takes an attribute of an old name without a word, and never looks at it."""
    optimizer = module.optimizers.Optimizer
    if hasattr(optimizer, "lr"):
        return

    def note(name: str, frame: FrameType) -> None:
        if name in ("lr", "decay") and owner_of(frame.f_code) is CodeOwner.USER:
            where = span(capture.recorder._place(frame))
            capture.events.append(DeadAttribute(owner="the optimizer", attribute=name, where=where))

    def wrap(original: Any) -> Any:
        def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
            capture.hooks.safely(note, name, sys._getframe(1))
            original(self, name, value)

        return __setattr__

    capture.hooks.replace(optimizer, "__setattr__", wrap)
