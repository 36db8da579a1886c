"""The behaviour of a guarded optimizer in either Keras, and how it stops a `fit`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.errors import NonfiniteError
from whygrad.training.guard.guarding import Guarding, GuardSettings
from whygrad.training.guard.record import BadStep
from whygrad.training.wrapping.by_keras import Behaviour
from whygrad.training.wrapping.fit_callbacks import JoiningTrainFunction, join_fit, model_in_training


class StopAfterBatch:
    """A Keras callback that stops a `fit` whose compiled step cannot stop by itself; `fit` gets it by itself."""

    optimizer: GuardedOptimizer

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.optimizer.check()


class GuardedOptimizer(Behaviour):
    """Looks at the gradients, and hands them to the wrapped optimizer if they are finite."""

    PREFIX = "guarded"

    def __init__(self, wrapped: Any, *, name: str | None = None, **settings: Any) -> None:
        super().__init__(wrapped, name=name)
        self.guarding = Guarding(GuardSettings(**settings))
        self.callback = self.new_callback(StopAfterBatch)

    def build(self, variables: Iterable[Any]) -> None:
        variables = list(variables)
        super().build(variables)
        self.guarding.build(self.wrapped, variables)

    def step(self, gradients: list[Any], variables: list[Any], name: str | None, **options: Any) -> None:
        """Apply these gradients, unless they are not finite."""
        attend_batches(self)
        watching = sys.modules.get("whygrad.backends.tensorflow.capture")  # not loaded for this alone
        capture = None if watching is None else watching.running_capture()
        if capture is not None:
            capture.offered(gradients, variables)

        def apply(checked: list[Any]) -> None:
            self.hand_over(checked, variables, name, **options)

        self.guarding.step(self.wrapped, gradients, variables, apply)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **asdict(self.guarding.settings)}

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
                raise error.with_traceback(None) from None  # the sentence says it; our own frames do not help
            raise


def attend_batches(optimizer: GuardedOptimizer) -> None:
    """Called from inside a train_step: stop this `fit`, and those to come, with our own error."""
    model = model_in_training()
    if model is None:
        return
    if getattr(model.train_function, "optimizer", None) is not optimizer:
        stopping = model.train_function = StoppingTrainFunction(model.train_function, model)
        stopping.optimizer = optimizer
    join_fit(model, optimizer.callback if compat.inside_xla() else None)
