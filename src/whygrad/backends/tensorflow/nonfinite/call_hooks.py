"""Hooks around every call of a compiled function, and around the values that `fit` takes out of one."""

from __future__ import annotations

from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.backends.tensorflow.nonfinite.replay.step_histories import StepHistories


def install(hooks: Hooks, histories: StepHistories) -> None:
    """Stand around every call of a compiled function."""

    def calling(original: Any) -> Any:
        def call_flat(self: Any, *args: Any) -> Any:
            history = hooks.safely(histories.before, self, args) if compat.runs_eagerly() else None
            results = original(self, *args)
            if history is not None:
                hooks.safely(histories.after, history, results)
            return results

        return call_flat

    def opening(original: Any) -> Any:
        def get_value(self: Any, *args: Any, **kwargs: Any) -> Any:
            value = original(self, *args, **kwargs)
            if histories.latest is not None and compat.runs_eagerly():
                hooks.safely(histories.after, histories.latest, compat.flatten(value), "optional")
            return value

        return get_value

    hooks.replace(compat.AtomicFunction, "call_flat", calling)
    hooks.replace(compat.Optional, "get_value", opening)
