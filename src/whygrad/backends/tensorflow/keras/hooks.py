"""The hooks on Keras and on `tf.Module`, which pass on what ops do not show."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from whygrad.backends.tensorflow.keras.attributes import Attributes
from whygrad.backends.tensorflow.keras.called_layers import CalledLayers
from whygrad.backends.tensorflow.keras.facts import KerasFacts
from whygrad.backends.tensorflow.keras.lists import OF_LAYERS, OF_MODULES
from whygrad.backends.tensorflow.keras.trainings import Trainings
from whygrad.backends.tensorflow.listen.hooks import Hooks

Note = Callable[..., Any]
Wrap = Callable[[Any], Any]


def install_tensorflow(hooks: Hooks, facts: KerasFacts) -> None:
    """Hook the lists of `tf.Module`, and learn TensorFlow's own loss functions."""
    import tensorflow as tf

    facts.losses.learn(tf, "nn")
    for attribute in OF_MODULES:
        hooks.replace(tf.Module, attribute, _reading(hooks, attribute, facts.lists.read_of_module))


def install(hooks: Hooks, facts: KerasFacts, module: ModuleType) -> None:
    """Hook one Keras: version 3, or tf_keras."""
    replace = hooks.replace
    layers, attributes = facts.called_at, facts.attributes
    facts.losses.learn(module, "losses", "ops", "backend")
    facts.losses.learn_object(module.losses.Loss)
    layer, model, optimizer = module.layers.Layer, module.Model, module.optimizers.Optimizer

    def optimizer_set(owner: Any, frame: FrameType, name: str, _: Any) -> None:
        if isinstance(owner, optimizer):  # layers share the setter
            attributes.set_of_optimizer(owner, optimizer, frame, name)

    replace(layer, "__new__", _making(hooks, layers))
    replace(layer, "__call__", _calling(hooks, layers))
    replace(layer, "__setattr__", _setting(hooks, attributes.set_of_layer))
    replace(layer, "trainable", _flagging(hooks, attributes))
    replace(layer, "get_weights", _method(hooks, after=attributes.weights_read))
    replace(layer, "set_weights", _method(hooks, before=attributes.weights_set))
    for attribute in OF_LAYERS:
        replace(layer, attribute, _reading(hooks, attribute, facts.lists.read_of_layer))
    replace(layer, "losses", _reading(hooks, "losses", layers.losses_were_read))
    replace(layer, "add_loss", _method(hooks, before=layers.loss_was_added))
    replace(model, "compile", _method(hooks, after=facts.trainings.compiled))
    for method in ("predict", "predict_on_batch"):
        replace(model, method, _method(hooks, before=facts.predicted_from))
    for method in ("fit", "train_on_batch"):
        replace(model, method, _training(hooks, facts.trainings, method))
    replace(module.losses.Loss, "__call__", _method(hooks, before=facts.losses.note_object))
    if hasattr(module, "Variable"):  # of Keras 3, around one of TensorFlow's; tf_keras has no class of its own
        replace(module.Variable, "__init__", _method(hooks, after=facts.variable_made))
    if module.__name__ == "keras":  # tf_keras shares its `__setattr__` with everything that TensorFlow tracks
        replace(optimizer, "__setattr__", _setting(hooks, optimizer_set))


def _method(hooks: Hooks, *, before: Note | None = None, after: Note | None = None) -> Wrap:
    """A method that passes on its object, its result when it has run, the caller's frame, and its arguments."""

    def wrap(original: Any) -> Any:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            if before is not None:
                hooks.safely(before, self, sys._getframe(1), args, kwargs)
            result = original(self, *args, **kwargs)
            if after is not None:
                hooks.safely(after, self, result, sys._getframe(1), args, kwargs)
            return result

        return method

    return wrap


def _setting(hooks: Hooks, note: Note) -> Wrap:
    """The frame of a setter is known by its name: a property that is set through it looks past it."""

    def wrap(original: Any) -> Any:
        def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
            hooks.safely(note, self, sys._getframe(1), name, value)
            original(self, name, value)

        return __setattr__

    return wrap


def _reading(hooks: Hooks, attribute: str, note: Note) -> Wrap:
    def wrap(original: Any) -> Any:
        def read(self: Any) -> Any:
            value = original.fget(self)
            hooks.safely(note, self, attribute, value, sys._getframe(1))
            return value

        return property(read, original.fset, original.fdel, original.__doc__)

    return wrap


def _flagging(hooks: Hooks, attributes: Attributes) -> Wrap:
    def wrap(original: Any) -> Any:
        def write(self: Any, value: Any) -> None:
            original.fset(self, value)
            hooks.safely(attributes.flag_set, self, value, sys._getframe(1))

        return property(original.fget, write, original.fdel, original.__doc__)

    return wrap


def _making(hooks: Hooks, layers: CalledLayers) -> Wrap:
    """Keras reads the signature of `__init__`: it must stay as it is."""

    def wrap(original: Any) -> Any:
        def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            layer = original.__func__(cls, *args, **kwargs)
            hooks.safely(layers.was_made, layer, sys._getframe(1))
            return layer

        return staticmethod(__new__)

    return wrap


def _calling(hooks: Hooks, layers: CalledLayers) -> Wrap:
    def wrap(original: Any) -> Any:
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            around = hooks.safely(layers.entered, self, args, kwargs, sys._getframe(1))
            try:
                return original(self, *args, **kwargs)
            finally:
                hooks.safely(layers.left, around)

        return __call__

    return wrap


def _training(hooks: Hooks, trainings: Trainings, method: str) -> Wrap:
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
