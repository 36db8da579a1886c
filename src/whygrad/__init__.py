"""Why is my gradient missing, zero, NaN or wrong? Importing this imports no framework."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from whygrad.training import edit, sampling
    from whygrad.training.accumulation.accumulate import accumulate
    from whygrad.training.accumulation.accumulator import Accumulator
    from whygrad.training.accumulation.verify import verify_accumulation
    from whygrad.training.deduplicate import deduplicate
    from whygrad.training.gradient_check.check import check_gradient
    from whygrad.training.guard.guard import guard
    from whygrad.training.learning_rate import suggest_learning_rate
    from whygrad.training.monitor.monitor import Monitor
    from whygrad.training.summary.in_graph import print_summary
    from whygrad.training.summary.summarize import summarize
    from whygrad.training.summary.table import Summary
    from whygrad.trial.explained import explain
    from whygrad.watch import Report, watch

_TRAINING = "whygrad.training"

_HOMES = {
    "Accumulator": f"{_TRAINING}.accumulation.accumulator",
    "accumulate": f"{_TRAINING}.accumulation.accumulate",
    "check_gradient": f"{_TRAINING}.gradient_check.check",
    "deduplicate": f"{_TRAINING}.deduplicate",
    "Monitor": f"{_TRAINING}.monitor.monitor",
    "Summary": f"{_TRAINING}.summary.table",
    "print_summary": f"{_TRAINING}.summary.in_graph",
    "suggest_learning_rate": f"{_TRAINING}.learning_rate",
    "summarize": f"{_TRAINING}.summary.summarize",
    "guard": f"{_TRAINING}.guard.guard",
    "verify_accumulation": f"{_TRAINING}.accumulation.verify",
    "Report": "whygrad.watch",
    "explain": "whygrad.trial.explained",
    "watch": "whygrad.watch",
    "load_ipython_extension": "whygrad.integrations.notebook",
    "unload_ipython_extension": "whygrad.integrations.notebook",
}

_MODULES = {"edit": f"{_TRAINING}.edit", "sampling": f"{_TRAINING}.sampling", "testing": "whygrad.testing"}

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
    "suggest_learning_rate",
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
