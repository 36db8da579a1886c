"""Why is my gradient missing, zero, NaN or wrong? Importing this imports no framework."""

from __future__ import annotations

import importlib
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


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
