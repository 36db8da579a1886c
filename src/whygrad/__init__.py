"""Why is my gradient missing, zero, NaN or wrong? Importing this imports no framework."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from whygrad.watch import Report, explain, watch

_HOMES = {
    "Report": "whygrad.watch",
    "explain": "whygrad.watch",
    "watch": "whygrad.watch",
}

__all__ = ["Report", "__version__", "explain", "watch"]


class _Package(ModuleType):
    """Importing a submodule must not hide the function of the same name: `whygrad.watch` stays callable."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in _HOMES and isinstance(value, ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
