"""`Schedule` and `Interpolate`: a variable as a function of the step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from whygrad.arguments import check_callable, check_number, check_whole
from whygrad.backends.tensorflow.log.ledger.writer import writing_as
from whygrad.training.edit.planned_edit import Logs, PlannedEdit
from whygrad.training.replicas import across_replicas, write
from whygrad.training.variables import check_variable


class Schedule(PlannedEdit):
    """Any variable as a function of the step: `Schedule(beta, lambda step: tf.minimum(1.0, step / 1000.0))`.

    The first update sees `function(0)`, the next `function(1)`. The function gets a float32 step and returns a number
    or tensor; a Keras learning-rate schedule is one. With `steps_per_execution=k` in `fit`, k updates see one value.
    """

    def __init__(
        self, variable: Any, function: Callable[[Any], Any], *, every: int = 1, name: str | None = None
    ) -> None:
        advice = "keep the number in a tf.Variable: a Python number is baked into a compiled step"
        check_variable(variable, help=advice)
        check_callable("function", function, help="it takes the step and returns a value: `lambda step: 0.9 ** step`")
        super().__init__([variable], every=every, name=name)
        self._function = function
        self.set()

    def set(self) -> None:
        """Set the variable to its value at the present step, after loading a checkpoint too."""
        with writing_as(f"edit.{type(self).__name__}"):
            across_replicas(lambda: self._act(tf.identity(self.steps), None))

    def _act(self, now: Any, times: Any) -> None:
        value = self._function(tf.cast(now, tf.float32))
        write(self._held.variables[0], lambda own: tf.broadcast_to(tf.cast(value, own.dtype), tf.shape(own)))

    def on_train_begin(self, logs: Logs = None) -> None:
        self.set()


class Interpolate(Schedule):
    """From `start` to `end` in a straight line over so many steps, from step `begin` on, and `end` from then on."""

    def __init__(
        self, variable: Any, start: Any, end: Any, over: int, *, begin: int = 0, every: int = 1, name: str | None = None
    ) -> None:
        check_whole("over", over, help="`over` is a number of steps")
        check_whole("begin", begin, least=0, help="`begin` is a number of steps")
        for key, value in {"start": start, "end": end}.items():
            if not tf.is_tensor(value):
                check_number(key, value, help="`Interpolate(beta, 0.0, 1.0, over=1000)`")

        def line(step: Any) -> Any:
            share = tf.clip_by_value((step - begin) / over, 0.0, 1.0)
            first, last = tf.cast(start, tf.float32), tf.cast(end, tf.float32)
            return tf.where(share >= 1.0, last, first + (last - first) * share)

        super().__init__(variable, line, every=every, name=name)
