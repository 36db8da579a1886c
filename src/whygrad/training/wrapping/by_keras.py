"""Optimizers around optimizers, one class for each Keras, made of one behaviour that knows neither."""

from __future__ import annotations

import functools
import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whygrad.training.wrapping.keras import OptimizerWrapper

    Behaviour = OptimizerWrapper
else:
    Behaviour = object  # to be put in front of the wrapper of either Keras: `super()` is that one

_KERASES = ("keras", "tf_keras")


def register_wrappers(behaviour: type) -> None:
    """Make the wrappers of the Kerases in use known to their loaders, so that saved models can be read."""
    for name in _KERASES:
        if name in sys.modules:
            _classes(behaviour, name)


def wrapper_class(behaviour: type, optimizer: Any) -> Any:
    """The class that gives an optimizer this behaviour in its own Keras."""
    scaled = hasattr(optimizer, "inner_optimizer") and hasattr(optimizer, "dynamic_growth_steps")
    old = any(cls.__module__.split(".")[0] == "tf_keras" for cls in type(optimizer).__mro__)
    return _classes(behaviour, _KERASES[old])[scaled]


@functools.cache
def _classes(behaviour: type, keras: str) -> tuple[Any, Any]:
    """Two wrappers of the name of the behaviour: for any optimizer, and for one that scales the loss.

    The second is a LossScaleOptimizer itself, so that `compile` does not wrap it in another one.
    """
    module: Any = importlib.import_module(f"{__package__}.{keras}")
    facts = {"__module__": behaviour.__module__, "__doc__": behaviour.__doc__}
    plain = type(behaviour.__name__, (behaviour, module.OptimizerWrapper), facts)
    bases = (*module.LOSS_SCALING, plain, module.LossScaleOptimizer)
    register = module.OptimizerWrapper.SAVING.register_keras_serializable(package="whygrad")
    return register(plain), register(type(f"LossScaled{behaviour.__name__}", bases, facts))
