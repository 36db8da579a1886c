"""`ExponentialAverage`: the smoothed copy of a network's weights."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from whygrad.arguments import check_number
from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.ledger.writer import writing_as
from whygrad.backends.tensorflow.measure.graph_building import unconverted
from whygrad.errors import UsageError
from whygrad.training.edit.owned_variables import Pattern, trained
from whygrad.training.edit.planned_edit import Logs, PlannedEdit
from whygrad.training.replicas import across_replicas, copy_of, mixed, scope_of, write
from whygrad.training.variables import check_variable, name_of


class ExponentialAverage(PlannedEdit):
    """`average = decay * average + (1 - decay) * weight` after each step, from the weights it is made with.

    `with average.swapped(): model.evaluate(...)` evaluates the averages and puts the weights back bit for bit; with
    `evaluate=True` the validation inside `fit` does so by itself. `warmup=True` follows faster in the first steps:
    the decay is at most `(1 + steps) / (10 + steps)`. After k steps at once the decay is `decay ** k`.

    >>> average = wg.edit.ExponentialAverage(model, decay=0.999)
    >>> model.fit(data, callbacks=[average])
    >>> with average.swapped():
    ...     model.evaluate(validation)
    """

    def __init__(
        self,
        model: Any,
        decay: float = 0.999,
        *,
        layers: Pattern | None = None,
        warmup: bool = False,
        evaluate: bool = False,
        every: int = 1,
        name: str | None = None,
    ) -> None:
        check_number("decay", decay, "from 0 to below 1", lambda number: 0.0 <= number < 1.0, help="`decay=0.999`")
        variables = trained(model, layers)
        super().__init__(variables, every=every, name=name)
        self._decay, self._warmup, self._evaluate = float(decay), warmup, evaluate
        with tf.init_scope(), scope_of(variables):
            self.averages = [copy_of(variable, "average") for variable in variables]
            self.is_swapped = tf.Variable(False, trainable=False, name="swapped")

    def average_of(self, variable: Any) -> Any:
        """The average that belongs to a variable."""
        check_variable(variable)
        for own, average in zip(self._held.variables, self.averages, strict=True):
            if compat.native(own) is compat.native(variable):
                return average
        raise UsageError(f"`{name_of(variable)}` is not averaged")

    def _act(self, now: Any, times: Any) -> None:
        if tf.executing_eagerly() and bool(self.is_swapped.numpy()):
            raise UsageError("a step was made while the averages were swapped in", help="leave `swapped()` first")
        decay = tf.constant(self._decay, tf.float64)
        if self._warmup:
            seen = tf.cast(now, tf.float64)
            decay = tf.minimum(decay, (1.0 + seen) / (10.0 + seen))
        share = 1.0 - decay ** tf.cast(times, tf.float64)
        for variable, average in zip(self._held.variables, self.averages, strict=True):
            write(average, lambda mean, weight: mixed(mean, weight, share), variable)

    @unconverted
    def swap(self) -> None:
        """Exchange weights and averages, bit for bit; twice is as before."""
        with writing_as("edit.ExponentialAverage.swap"):
            across_replicas(self._exchange)

    def _exchange(self) -> None:
        for variable, average in zip(self._held.variables, self.averages, strict=True):
            before = tf.identity(compat.native(variable).read_value())
            write(variable, lambda _, mean: mean, average)
            write(average, lambda _, before=before: before)
        self.is_swapped.assign(tf.logical_not(self.is_swapped))

    @contextlib.contextmanager
    def swapped(self) -> Iterator[None]:
        """The averages are in the model meanwhile; the weights come back also after an exception."""
        self.swap()
        try:
            yield
        finally:
            self.swap()

    def on_test_begin(self, logs: Logs = None) -> None:
        if self._evaluate and not bool(self.is_swapped.numpy()):
            self.swap()

    def on_test_end(self, logs: Logs = None) -> None:
        if self._evaluate and bool(self.is_swapped.numpy()):
            self.swap()

    def on_train_begin(self, logs: Logs = None) -> None:
        self.on_test_end()  # a validation that was interrupted
