"""`wg.guard` for Keras 3."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import keras
import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.training.guard.guarding import GuardSettings
from whygrad.training.guard.owner import GuardOwner, StopAfterBatch, attend_batches
from whygrad.training.wrapping.keras import OptimizerWrapper


class KerasStop(StopAfterBatch, keras.callbacks.Callback):  # type: ignore[misc]
    """Stops a `fit` whose compiled step cannot stop by itself; `fit` gets it by itself."""

    def __init__(self, optimizer: Any) -> None:
        super().__init__()
        self.optimizer = optimizer


@keras.saving.register_keras_serializable(package="whygrad")
class GuardedOptimizer(GuardOwner, OptimizerWrapper):
    """Looks at the gradients, and hands them to the wrapped optimizer if they are finite."""

    def __init__(self, wrapped: Any, *, name: str | None = None, **settings: Any) -> None:
        super().__init__(wrapped, name=name or f"guarded_{wrapped.name}")
        self.guard_with(GuardSettings(**settings))
        self.callback = KerasStop(self)

    def build(self, variables: Iterable[Any]) -> None:
        variables = list(variables)
        super().build(variables)
        self.guarding.build(self.wrapped, variables)

    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def apply(self, grads: Iterable[Any], trainable_variables: Any = None, **options: Any) -> None:
        """Apply these gradients, unless they are not finite."""
        variables = compat.trained_by(self) if trainable_variables is None else list(trainable_variables)
        if not self.built:
            with tf.init_scope():
                self.build(variables)
        attend_batches(self)

        def apply(gradients: list[Any]) -> None:
            self.wrapped.apply(gradients, variables, **options)

        self.guarding.step(self.wrapped, list(grads), variables, apply)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **self.guarding.settings.config()}


@keras.saving.register_keras_serializable(package="whygrad")
class LossScaledGuardedOptimizer(GuardedOptimizer, keras.optimizers.LossScaleOptimizer):  # type: ignore[misc]
    """The same around a LossScaleOptimizer: being one, it is not wrapped in a second one by `compile`."""
