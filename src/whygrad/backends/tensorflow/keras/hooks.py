"""The hooks on Keras and on `tf.Module`, which pass on what ops do not show."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.keras.lists import OF_LAYERS, OF_MODULES

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture

Note = Callable[..., Any]
Wrap = Callable[[Any], Any]


def install_tensorflow(capture: Capture) -> None:
    """Hook the lists of `tf.Module`, and learn TensorFlow's own loss functions."""
    import tensorflow as tf

    capture.losses.learn(tf, "nn")
    for attribute in OF_MODULES:
        capture.hooks.replace(tf.Module, attribute, _reading(capture, attribute, capture.keras.lists.read_of_module))


def install(capture: Capture, module: ModuleType) -> None:
    """Hook one Keras: version 3, or tf_keras."""
    replace, facts = capture.hooks.replace, capture.keras
    layers, attributes = facts.called_at, facts.attributes
    capture.losses.learn(module, "losses", "ops", "backend")
    capture.losses.learn_object(module.losses.Loss)
    layer, model, optimizer = module.layers.Layer, module.Model, module.optimizers.Optimizer

    def losses_read(layer: Any, *_: Any) -> None:
        if capture.recorder.tapes:
            layers.losses_read.add(layer)

    def loss_added(layer: Any, *_: Any) -> None:
        layers.losses_added.add(layer)

    def optimizer_set(owner: Any, frame: FrameType, name: str, _: Any) -> None:
        if isinstance(owner, optimizer):  # layers share the setter
            attributes.set_of_optimizer(owner, optimizer, frame, name)

    replace(layer, "__new__", _making(capture))
    replace(layer, "__call__", _calling(capture))
    replace(layer, "__setattr__", _setting(capture, attributes.set_of_layer))
    replace(layer, "trainable", _flagging(capture))
    replace(layer, "get_weights", _method(capture, after=attributes.weights_read))
    replace(layer, "set_weights", _method(capture, before=attributes.weights_set))
    for attribute in OF_LAYERS:
        replace(layer, attribute, _reading(capture, attribute, facts.lists.read_of_layer))
    replace(layer, "losses", _reading(capture, "losses", losses_read))
    replace(layer, "add_loss", _method(capture, before=loss_added))
    replace(model, "compile", _method(capture, after=facts.trainings.compiled))
    for method in ("fit", "train_on_batch"):
        replace(model, method, _training(capture, method))
    replace(module.losses.Loss, "__call__", _method(capture, before=capture.losses.note_object))
    if hasattr(module, "Variable"):  # of Keras 3, around one of TensorFlow's; tf_keras has no class of its own
        replace(module.Variable, "__init__", _method(capture, after=facts.variable_made))
    if module.__name__ == "keras":  # tf_keras shares its `__setattr__` with everything that TensorFlow tracks
        replace(optimizer, "__setattr__", _setting(capture, optimizer_set))


def _method(capture: Capture, *, before: Note | None = None, after: Note | None = None) -> Wrap:
    """A method that passes on its object, its result when it has run, the caller's frame, and its arguments."""

    def wrap(original: Any) -> Any:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            if before is not None:
                capture.hooks.safely(before, self, sys._getframe(1), args, kwargs)
            result = original(self, *args, **kwargs)
            if after is not None:
                capture.hooks.safely(after, self, result, sys._getframe(1), args, kwargs)
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
