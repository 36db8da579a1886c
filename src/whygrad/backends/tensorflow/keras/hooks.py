"""The hooks on Keras and on `tf.Module`, which pass on what ops do not show."""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.keras.lists import OF_LAYERS, OF_MODULES
from whygrad.source.position import CodeOwner, owner_of, user_frame

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture
    from whygrad.backends.tensorflow.keras.called_layers import CalledLayers

Note = Callable[..., Any]
Wrap = Callable[[Any], Any]


def install_tensorflow(capture: Capture) -> None:
    """Hook the lists of `tf.Module`, and learn TensorFlow's own loss functions."""
    import tensorflow as tf

    capture.loss_functions.learn(tf, "nn")
    for attribute in OF_MODULES:
        capture.hooks.replace(tf.Module, attribute, _reading(capture, attribute, capture.keras.lists.read_of_module))


def install(capture: Capture, module: ModuleType) -> None:
    """Hook one Keras: version 3, or tf_keras."""
    replace, facts = capture.hooks.replace, capture.keras
    layers, attributes = facts.called_at, facts.attributes
    capture.loss_functions.learn(module, "losses", "ops", "backend")
    capture.loss_functions.learn_object(module.losses.Loss)
    layer, model, optimizer = module.layers.Layer, module.Model, module.optimizers.Optimizer

    def losses_read(layer: Any, *_: Any) -> None:
        if capture.recorder.tapes:
            layers.losses_read.add(layer)

    replace(layer, "__new__", _making(capture))
    replace(layer, "__call__", _calling(capture))
    replace(layer, "__setattr__", _setting(capture, attributes.set_of_layer))
    replace(layer, "trainable", _flagging(capture))
    replace(layer, "get_weights", _method(capture, after=attributes.weights_read))
    replace(layer, "set_weights", _method(capture, before=attributes.weights_set))
    for attribute in OF_LAYERS:
        replace(layer, attribute, _reading(capture, attribute, facts.lists.read_of_layer))
    replace(layer, "losses", _reading(capture, "losses", losses_read))
    replace(layer, "add_loss", _method(capture, before=lambda layer, *_, **__: layers.losses_added.add(layer)))
    replace(model, "compile", _method(capture, after=facts.trainings.compiled))
    for method in ("fit", "train_on_batch"):
        replace(model, method, _training(capture, method))
    replace(module.losses.Loss, "__call__", _method(capture, before=functools.partial(_note_loss, capture)))
    if hasattr(module, "Variable"):  # of Keras 3, around one of TensorFlow's; tf_keras has no class of its own
        replace(module.Variable, "__init__", _method(capture, after=functools.partial(_note_variable, capture)))
    if module.__name__ == "keras":  # tf_keras shares its `__setattr__` with everything that TensorFlow tracks
        replace(optimizer, "__setattr__", _setting(capture, functools.partial(attributes.set_of_optimizer, optimizer)))


def _method(capture: Capture, *, before: Note | None = None, after: Note | None = None) -> Wrap:
    """A method that passes on its object, its result when it has run, the caller's frame, and its arguments."""

    def wrap(original: Any) -> Any:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            if before is not None:
                capture.hooks.safely(functools.partial(before, **kwargs), self, sys._getframe(1), *args)
            result = original(self, *args, **kwargs)
            if after is not None:
                capture.hooks.safely(functools.partial(after, **kwargs), self, result, sys._getframe(1), *args)
            return result

        return method

    return wrap


def _setting(capture: Capture, note: Note) -> Wrap:
    """The frame of a setter is known by its name: a property that is set through it looks past it."""

    def wrap(original: Any) -> Any:
        def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
            capture.hooks.safely(note, self, sys._getframe(1), name, value)
            original(self, name, value)

        return __setattr__

    return wrap


def _reading(capture: Capture, attribute: str, note: Note) -> Wrap:
    def wrap(original: Any) -> Any:
        def read(self: Any) -> Any:
            value = original.fget(self)
            capture.hooks.safely(note, self, attribute, value, sys._getframe(1))
            return value

        return property(read, original.fset, original.fdel, original.__doc__)

    return wrap


def _flagging(capture: Capture) -> Wrap:
    def wrap(original: Any) -> Any:
        def write(self: Any, value: Any) -> None:
            original.fset(self, value)
            capture.hooks.safely(capture.keras.attributes.flag_set, self, value, sys._getframe(1))

        return property(original.fget, write, original.fdel, original.__doc__)

    return wrap


def _making(capture: Capture) -> Wrap:
    """Keras reads the signature of `__init__`: it must stay as it is."""

    def wrap(original: Any) -> Any:
        def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            layer = original.__func__(cls, *args, **kwargs)
            capture.hooks.safely(capture.keras.called_at.was_made, layer, sys._getframe(1))
            return layer

        return staticmethod(__new__)

    return wrap


def _calling(capture: Capture) -> Wrap:
    hooks, layers = capture.hooks, capture.keras.called_at

    def wrap(original: Any) -> Any:
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            around = hooks.safely(layers.entered, self, args, kwargs, sys._getframe(1))
            try:
                return original(self, *args, **kwargs)
            finally:
                hooks.safely(layers.left, around)

        return __call__

    return wrap


def _training(capture: Capture, method: str) -> Wrap:
    hooks, trainings = capture.hooks, capture.keras.trainings

    def wrap(original: Any) -> Any:
        def train(self: Any, *args: Any, **kwargs: Any) -> Any:
            hooks.safely(trainings.began, self, method, args, kwargs, sys._getframe(1))
            try:
                return original(self, *args, **kwargs)
            except Exception as error:
                hooks.safely(trainings.failed, self, error)
                raise
            finally:
                hooks.safely(trainings.ended)

        return train

    return wrap


def _note_variable(capture: Capture, variable: Any, _: None, frame: FrameType, /, *args: Any, **kwargs: Any) -> None:
    capture.variables.link_keras(variable, capture.recorder._place(frame))
    made = _made_by_layer(capture.keras.called_at, frame)
    if made is None:
        return
    entry = capture.variables.of(variable)
    if entry is not None:
        entry.created = made
    else:  # its value comes later: remember it by the variable
        capture.keras.made_variables[id(variable)] = (weakref.ref(variable), made)


def _made_by_layer(layers: CalledLayers, frame: FrameType | None) -> Any:
    """A ready-made layer's weights are made when it is first called; show where the layer was made instead."""
    while frame is not None and owner_of(frame.f_code) is not CodeOwner.USER:
        if frame.f_code.co_name == "add_weight":
            layer, user = frame.f_locals.get("self"), user_frame(frame)
            own = user is not None and user.f_locals.get("self") is layer
            return None if own else layers.made_at(layer)
        frame = frame.f_back
    return None


def _note_loss(
    capture: Capture, loss: Any, frame: FrameType, y_true: Any = None, y_pred: Any = None, *_: Any, **__: Any
) -> None:
    """Which tensor is the label and which the prediction."""
    recorder = capture.recorder
    capture.keras.losses_seen.add(loss)
    ids = [item._id for item in (y_pred, y_true) if getattr(item, "_id", None) is not None]
    if recorder.paused or len(ids) < 2:
        return
    function = getattr(loss, "fn", None) if type(loss).__name__ == "LossFunctionWrapper" else type(loss)
    own = str(getattr(function, "__module__", "")).split(".")[0] in ("keras", "tf_keras")
    name = f"LossCall:{getattr(function, '__name__', type(loss).__name__) if own else 'function'}"
    recorder.add_virtual(name, ids, (), recorder._place(frame), capture.current_graph())
