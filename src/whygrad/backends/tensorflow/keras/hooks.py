"""The hooks on Keras and on `tf.Module`, which pass on what ops do not show."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from whygrad.backends.tensorflow.keras.facts import KerasFacts
from whygrad.backends.tensorflow.keras.lists import OF_LAYERS, OF_MODULES
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.source.position import CodeOwner, owner_of

Note = Callable[..., Any]
Wrap = Callable[[Any], Any]


def install_tensorflow(hooks: Hooks, facts: KerasFacts) -> None:
    """Hook the lists and attributes of `tf.Module`, and let TensorFlow's own loss functions be known."""
    import tensorflow as tf

    def module_set(owner: Any, frame: FrameType, name: str, value: Any) -> None:
        if isinstance(owner, tf.Module):  # all that TensorFlow tracks shares the setter
            facts.attributes.set_of_module(owner, frame, name, value)

    facts.joined(tf)
    hooks.replace(tf.Module, "__setattr__", _setting(hooks, module_set))
    for attribute in OF_MODULES:
        hooks.replace(tf.Module, attribute, _reading(hooks, attribute, lambda *it: facts.lists.read_of_module(*it)))


def install(hooks: Hooks, facts: KerasFacts, module: ModuleType) -> None:
    """Hook one Keras: version 3, or tf_keras. A part of `facts` is made by the hook that first tells it something."""
    replace = hooks.replace
    facts.joined(module)
    layer, model, optimizer = module.layers.Layer, module.Model, module.optimizers.Optimizer

    def optimizer_set(owner: Any, frame: FrameType, name: str, _: Any) -> None:
        if isinstance(owner, optimizer):  # layers share the setter
            facts.attributes.set_of_optimizer(owner, optimizer, frame, name)

    replace(layer, "__new__", _making(hooks, lambda *it: facts.called_at.was_made(*it)))
    replace(layer, "__call__", _calling(hooks, facts, lambda *it: facts.called_at.entered(*it)))
    replace(layer, "__setattr__", _setting(hooks, lambda *it: facts.attributes.set_of_layer(*it)))
    replace(layer, "trainable", _flagging(hooks, lambda *it: facts.attributes.flag_set(*it)))
    replace(layer, "get_weights", _method(hooks, after=lambda *it: facts.attributes.weights_read(*it)))
    replace(layer, "set_weights", _method(hooks, before=lambda *it: facts.attributes.weights_set(*it)))
    for attribute in OF_LAYERS:
        replace(layer, attribute, _reading(hooks, attribute, lambda *it: facts.lists.read_of_layer(*it)))
    replace(layer, "losses", _reading(hooks, "losses", lambda *it: facts.called_at.losses_were_read(*it)))
    replace(layer, "add_loss", _method(hooks, before=lambda *it: facts.called_at.loss_was_added(*it)))
    replace(model, "compile", _method(hooks, after=lambda *it: facts.trainings.compiled(*it)))
    replace(model, "evaluate", _method(hooks, before=lambda *it: facts.objectives.evaluated(*it)))
    for method in ("predict", "predict_on_batch"):
        replace(model, method, _method(hooks, before=lambda *it: facts.predicted_from(*it)))
    for method in ("fit", "train_on_batch"):
        replace(model, method, _training(hooks, facts, method))
    replace(module.losses.Loss, "__call__", _method(hooks, before=lambda *it: facts.loss_called(*it)))
    replace(module.losses.Loss, "__init__", _method(hooks, before=lambda *it: facts.objectives.loss_made(*it)))
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
    """What the user's own code sets. The frame of a setter is known by its name: a property looks past it."""

    def wrap(original: Any) -> Any:
        def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
            frame = sys._getframe(1)
            if owner_of(frame.f_code) is CodeOwner.USER:
                hooks.safely(note, self, frame, name, value)
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


def _flagging(hooks: Hooks, note: Note) -> Wrap:
    def wrap(original: Any) -> Any:
        def write(self: Any, value: Any) -> None:
            original.fset(self, value)
            hooks.safely(note, self, value, sys._getframe(1))

        return property(original.fget, write, original.fdel, original.__doc__)

    return wrap


def _making(hooks: Hooks, note: Note) -> Wrap:
    """Keras reads the signature of `__init__`: it must stay as it is."""

    def wrap(original: Any) -> Any:
        def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            layer = original.__func__(cls, *args, **kwargs)
            hooks.safely(note, layer, sys._getframe(1))
            return layer

        return staticmethod(__new__)

    return wrap


def _calling(hooks: Hooks, facts: KerasFacts, enter: Note) -> Wrap:
    def wrap(original: Any) -> Any:
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            around = hooks.safely(enter, self, args, kwargs, sys._getframe(1))
            try:
                result = original(self, *args, **kwargs)
                hooks.safely(facts.called_at.gave, self, args, kwargs, result, around)
                return result
            finally:
                hooks.safely(facts.called_at.left, around)

        return __call__

    return wrap


def _training(hooks: Hooks, facts: KerasFacts, method: str) -> Wrap:
    def wrap(original: Any) -> Any:
        def train(self: Any, *args: Any, **kwargs: Any) -> Any:
            hooks.safely(facts.training_began, self, method, args, kwargs, sys._getframe(1))
            try:
                return original(self, *args, **kwargs)
            except Exception as error:
                hooks.safely(facts.trainings.failed, self, error)
                raise
            finally:
                hooks.safely(facts.trainings.ended)

        return train

    return wrap
