"""The hooks of Keras, which tell `KerasFacts` what ops do not show."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.keras.objects import hook_losses, hook_old_names, hook_variables

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture

from whygrad.backends.tensorflow.keras.facts import LISTS


def install(capture: Capture, module: ModuleType) -> None:
    """Hook one Keras: version 3, or tf_keras."""
    hooks, facts = capture.hooks, capture.keras
    layer_class, model_class = module.layers.Layer, module.Model

    def calling(original: Any) -> Any:
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            hooks.safely(facts.entered, self, args, kwargs, sys._getframe(1))
            try:
                return original(self, *args, **kwargs)
            finally:
                hooks.safely(facts.left)

        return __call__

    def listing(attribute: str) -> Any:
        def wrap(original: Any) -> Any:
            def read(self: Any) -> Any:
                value = original.fget(self)
                hooks.safely(facts.list_was_read, self, attribute, value, sys._getframe(1))
                return value

            return property(read, original.fset, original.fdel, original.__doc__)

        return wrap

    def flagging(original: Any) -> Any:
        def write(self: Any, value: Any) -> None:
            original.fset(self, value)
            hooks.safely(facts.flag_was_set, self, value, sys._getframe(1))

        return property(original.fget, write, original.fdel, original.__doc__)

    def reading_losses(original: Any) -> Any:
        def losses(self: Any) -> Any:
            if capture.recorder.tapes:
                hooks.safely(facts.losses_read.add, self)
            return original.fget(self)

        return property(losses, original.fset, original.fdel, original.__doc__)

    def adding_loss(original: Any) -> Any:
        def add_loss(self: Any, *args: Any, **kwargs: Any) -> Any:
            hooks.safely(facts.losses_added.add, self)
            return original(self, *args, **kwargs)

        return add_loss

    def compiling(original: Any) -> Any:
        def compile(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: A001
            result = original(self, *args, **kwargs)
            hooks.safely(facts.was_compiled, self, kwargs, args, sys._getframe(1))
            return result

        return compile

    def training(method: str) -> Any:
        def wrap(original: Any) -> Any:
            def train(self: Any, *args: Any, **kwargs: Any) -> Any:
                hooks.safely(facts.training_began, self, method, sys._getframe(1))
                hooks.safely(facts.history.trained, self, method, args, kwargs)
                try:
                    return original(self, *args, **kwargs)
                except Exception as error:
                    hooks.safely(facts.training_failed, self, error)
                    raise
                finally:
                    hooks.safely(facts.training_ended)

            return train

        return wrap

    def rebinding(original: Any) -> Any:
        def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
            hooks.safely(facts.attribute_was_set, self, name, value, sys._getframe(1))
            original(self, name, value)

        return __setattr__

    def making(original: Any) -> Any:
        """Keras reads the signature of `__init__`: it must stay as it is."""

        def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            layer = original.__func__(cls, *args, **kwargs)
            hooks.safely(facts.was_made, layer, sys._getframe(1))
            return layer

        return staticmethod(__new__)

    def reading_weights(original: Any) -> Any:
        def get_weights(self: Any) -> Any:
            values = original(self)
            hooks.safely(facts.weights_were_read, self, values)
            return values

        return get_weights

    def setting_weights(original: Any) -> Any:
        def set_weights(self: Any, weights: Any) -> Any:
            hooks.safely(facts.weights_were_set, self, weights, sys._getframe(1))
            return original(self, weights)

        return set_weights

    hooks.replace(layer_class, "get_weights", reading_weights)
    hooks.replace(layer_class, "set_weights", setting_weights)
    hooks.replace(layer_class, "__new__", making)
    hooks.replace(layer_class, "__call__", calling)
    hooks.replace(layer_class, "__setattr__", rebinding)
    for attribute in LISTS:
        hooks.replace(layer_class, attribute, listing(attribute))
    hooks.replace(layer_class, "trainable", flagging)
    hooks.replace(layer_class, "losses", reading_losses)
    hooks.replace(layer_class, "add_loss", adding_loss)
    hooks.replace(model_class, "compile", compiling)
    for method in ("fit", "train_on_batch"):
        hooks.replace(model_class, method, training(method))
    hook_variables(capture, module)
    hook_losses(capture, module)
    hook_old_names(capture, module)
