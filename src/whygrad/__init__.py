"""Why is my gradient missing, zero, NaN or wrong? Importing this imports no framework."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from whygrad.backends.tensorflow import edit, sampling
    from whygrad.backends.tensorflow.accumulate import accumulate
    from whygrad.backends.tensorflow.accumulator import Accumulator
    from whygrad.backends.tensorflow.deduplicate import deduplicate
    from whygrad.backends.tensorflow.gradient_check.check import check_gradient
    from whygrad.backends.tensorflow.guard import guard
    from whygrad.backends.tensorflow.monitor import Monitor
    from whygrad.backends.tensorflow.summary import summarize
    from whygrad.backends.tensorflow.summary_print import print_summary
    from whygrad.backends.tensorflow.summary_table import Summary
    from whygrad.backends.tensorflow.verify_accumulation import verify_accumulation
    from whygrad.watch import Report, explain, watch

_TENSORFLOW = "whygrad.backends.tensorflow"

_HOMES = {
    "Accumulator": f"{_TENSORFLOW}.accumulator",
    "accumulate": f"{_TENSORFLOW}.accumulate",
    "check_gradient": f"{_TENSORFLOW}.gradient_check.check",
    "deduplicate": f"{_TENSORFLOW}.deduplicate",
    "Monitor": f"{_TENSORFLOW}.monitor",
    "Summary": f"{_TENSORFLOW}.summary_table",
    "print_summary": f"{_TENSORFLOW}.summary_print",
    "summarize": f"{_TENSORFLOW}.summary",
    "guard": f"{_TENSORFLOW}.guard",
    "verify_accumulation": f"{_TENSORFLOW}.verify_accumulation",
    "Report": "whygrad.watch",
    "explain": "whygrad.watch",
    "watch": "whygrad.watch",
    "load_ipython_extension": "whygrad.integrations.notebook",
    "unload_ipython_extension": "whygrad.integrations.notebook",
}

_MODULES = {"edit": f"{_TENSORFLOW}.edit", "sampling": f"{_TENSORFLOW}.sampling", "testing": "whygrad.testing"}

__all__ = [
    "Accumulator",
    "Monitor",
    "Report",
    "Summary",
    "__version__",
    "accumulate",
    "check_gradient",
    "deduplicate",
    "edit",
    "explain",
    "guard",
    "print_summary",
    "sampling",
    "summarize",
    "verify_accumulation",
    "watch",
]


class _Package(ModuleType):
    """Importing a submodule must not hide the function of the same name: `whygrad.watch` stays callable."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in _HOMES and isinstance(value, ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    value: Any
    if name in _MODULES:
        value = importlib.import_module(_MODULES[name])
    elif name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
