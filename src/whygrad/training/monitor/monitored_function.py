"""A model's training function that records itself, in the place of the model's own while a `Monitor` is on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from whygrad.training.monitor.step_recorder import StepRecorder, StepSettings

_KEPT: Final = "whygrad_monitored"  # attribute of the function whose place is taken: both last until `compile`


def monitored(model: Any, settings: StepSettings) -> MonitoredFunction:
    """The monitored step of a model; that of an earlier `fit`, traced as it is, where the model would keep its own."""
    original = _innermost(model.train_function)[1]
    made_for = (settings, model.optimizer)
    kept = getattr(original, "__dict__", {}).get(_KEPT)
    if isinstance(kept, MonitoredFunction) and kept.model is model and kept.made_for == made_for:
        kept.recorder.restart()
        return kept
    return MonitoredFunction(model, StepRecorder(model, settings), original, made_for)


def _innermost(function: Any) -> tuple[Any, Any]:
    """A training function without what optimizers of ours put around it, and the last of these."""
    around = None
    while not isinstance(function, MonitoredFunction) and "function" in getattr(function, "__dict__", {}):
        around, function = function, function.function
    return around, function


class MonitoredFunction:
    """Called by `fit` for each execution of one or several steps."""

    def __init__(self, model: Any, recorder: StepRecorder, original: Any, made_for: object) -> None:
        self.model = model
        self.recorder = recorder
        self.made_for = made_for
        self._history: Any = None  # of the `fit` that a Monitor is on
        self._original = original
        self._step = recorder.wrap(model.train_step)
        self._on_execution: Callable[[float, float], None] | None = None
        self._on_failure: Callable[[BaseException], None] | None = None
        self._function = self._make()

    def install(
        self, on_execution: Callable[[float, float], None], on_failure: Callable[[BaseException], None]
    ) -> None:
        """Take the place of the model's own function for the `fit` that has just begun."""
        self._on_execution, self._on_failure = on_execution, on_failure
        self._history = self.model.history
        if hasattr(self._original, "__dict__"):
            setattr(self._original, _KEPT, self)
        self._put(self)

    def remove(self) -> None:
        """Give the model its own function back, traced as it was."""
        self._on_execution = self._on_failure = None
        if _innermost(self.model.train_function)[1] is self:
            self._put(self._original)

    def _put(self, function: Any) -> None:
        around = _innermost(self.model.train_function)[0]
        if around is None or function is None:
            self.model.train_function = function
        else:
            around.function = function

    def __call__(self, iterator: Any) -> Any:
        if self.model.history is not self._history:  # another `fit`: ours ended without calling its callbacks
            self.remove()
            self.model.make_train_function()
            return self.model.train_function(iterator)
        begun, started = time.time(), time.perf_counter()
        try:
            with self._in_place():
                result = self._function(iterator)
        except StopIteration:
            raise
        except BaseException as error:
            self.recorder.abandon()
            failed = self._on_failure
            getattr(self._original, "__dict__", {}).pop(_KEPT, None)
            self.remove()
            if failed is not None:
                failed(error)
            raise
        if self._on_execution is not None:
            self._on_execution(begun, time.perf_counter() - started)
        return result

    def _make(self) -> Any:
        """The function that the model itself makes of its training step, made of ours."""
        before = self.model.train_function
        try:
            with self._in_place():
                self.model.make_train_function(force=True)
            return self.model.train_function
        finally:
            self.model.train_function = before

    @contextmanager
    def _in_place(self) -> Iterator[None]:
        """Our step as the model's `train_step`: some versions of Keras look it up when they trace."""
        names = vars(self.model)
        previous, names["train_step"] = names.get("train_step"), self._step
        try:
            yield
        finally:
            if previous is None:
                names.pop("train_step", None)
            else:
                names["train_step"] = previous
