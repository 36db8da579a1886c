"""The wrapper of a kind that an optimizer gets: Keras 3 and tf_keras have one each, in modules of those names."""

from __future__ import annotations

import importlib
import sys
from typing import Any

_KERASES = ("keras", "tf_keras")


def register_wrappers(package: str) -> None:
    """Make the wrappers of the Kerases in use known to their loaders."""
    for name in _KERASES:
        if name in sys.modules:
            importlib.import_module(f"{package}.{name}")


def wrapper_class(package: str, name: str, optimizer: Any) -> Any:
    """The class of this name that wraps an optimizer in its own Keras, or its twin for loss scaling."""
    scaled = hasattr(optimizer, "inner_optimizer") and hasattr(optimizer, "dynamic_growth_steps")
    old = any(cls.__module__.split(".")[0] == "tf_keras" for cls in type(optimizer).__mro__)
    module = importlib.import_module(f"{package}.{_KERASES[old]}")
    return getattr(module, f"LossScaled{name}" if scaled else name)
