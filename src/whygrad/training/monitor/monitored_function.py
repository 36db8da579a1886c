"""A model's training function that records itself, in the place of the model's own while a `Monitor` is on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from whygrad.training.monitor.step_recorder import StepRecorder


class MonitoredFunction:
    """Called by `fit` for each execution of one or several steps."""

    def __init__(
        self,
        model: Any,
        recorder: StepRecorder,
        on_execution: Callable[[float, float], None],
        on_failure: Callable[[BaseException], None],
    ) -> None:
        self.model = model
        self.recorder = recorder
        self._history: Any = None  # of the `fit` that a Monitor is on
        self._original = model.train_function
        self._step = recorder.wrap(model.train_step)
        self._on_execution = on_execution
        self._on_failure = on_failure
        self._function = self._make()

    def install(self) -> None:
        """Take the place of the model's own function for the `fit` that has just begun."""
        self._history = self.model.history
        self.model.train_function = self

    def remove(self) -> None:
        """Give the model its own function back, traced as it was."""
        if self.model.train_function is self:
            self.model.train_function = self._original
            return
        around = self.model.train_function  # an optimizer of ours may stand around this one
        while getattr(around, "function", None) is not None and around.function is not self:
            around = around.function
        if getattr(around, "function", None) is self:
            if self._original is None:
                self.model.train_function = None
            else:
                around.function = self._original

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
            self.remove()
            self._on_failure(error)
            raise
        self._on_execution(begun, time.perf_counter() - started)
        return result

    def _make(self) -> Any:
        """The function that the model itself makes of its training step, made of ours."""
        try:
            with self._in_place():
                self.model.make_train_function(force=True)
            return self.model.train_function
        finally:
            self.model.train_function = self._original

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
