"""What a guarded optimizer offers, in either Keras, and how it stops a `fit`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.errors import NonfiniteError
from whygrad.training.accumulation.epoch_end import JoiningTrainFunction
from whygrad.training.guard.guarding import Guarding, GuardSettings
from whygrad.training.guard.record import BadStep


class GuardOwner:
    """Mixin of the guarded optimizers."""

    guarding: Guarding
    callback: Any

    def guard_with(self, settings: GuardSettings) -> None:
        settings.check()
        self.guarding = Guarding(settings)

    @property
    def bad_steps(self) -> tuple[BadStep, ...]:
        """The steps that were held back, oldest first; the last 64 of them."""
        return () if self.guarding.record is None else self.guarding.record.bad_steps()

    def check(self) -> None:
        """Raise NonfiniteError if training is to stop: a step under `jit_compile=True` cannot by itself."""
        self.guarding.check()

    def report(self) -> str:
        """What the guard has held back, and when."""
        return self.guarding.report()


class StopAfterBatch:
    """Mixin for a Keras callback."""

    optimizer: GuardOwner

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.optimizer.check()


class StoppingTrainFunction(JoiningTrainFunction):
    """Turns the error that a compiled step stops with into ours."""

    optimizer: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except tf.errors.InvalidArgumentError:
            try:
                self.optimizer.check()
            except NonfiniteError as error:
                raise error from None
            raise


def attend_batches(optimizer: GuardOwner) -> None:
    """Called from inside a train_step: stop this `fit`, and those to come, with our own error."""
    step = compat.enclosing_train_step()
    if step is None or getattr(step.model, "train_function", None) is None:
        return
    model = step.model
    if getattr(model.train_function, "optimizer", None) is not optimizer:
        stopping = StoppingTrainFunction(model.train_function, model)
        stopping.optimizer = optimizer
        model.train_function = stopping
    joining = model.train_function
    if compat.inside_xla() and optimizer.callback not in joining.callbacks:
        joining.callbacks.append(optimizer.callback)
    fit = compat.enclosing_fit(model)
    if fit is not None:
        joining.join(fit)
