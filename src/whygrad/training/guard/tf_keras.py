"""`wg.guard` for tf_keras (Keras 2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf
import tf_keras
from tf_keras.mixed_precision import LossScaleOptimizer

from whygrad.training.guard.guarding import GuardSettings
from whygrad.training.guard.owner import GuardOwner, StopAfterBatch, attend_batches
from whygrad.training.wrapping.delegating import pairs_of
from whygrad.training.wrapping.tf_keras import LossScaling, OptimizerWrapper


class TfKerasStop(StopAfterBatch, tf_keras.callbacks.Callback):  # type: ignore[misc]
    """Stops a `fit` whose compiled step cannot stop by itself; `fit` gets it by itself."""

    def __init__(self, optimizer: Any) -> None:
        super().__init__()
        self.optimizer = optimizer


@tf_keras.saving.register_keras_serializable(package="whygrad")
class GuardedOptimizer(GuardOwner, OptimizerWrapper):
    """Looks at the gradients, and hands them to the wrapped optimizer if they are finite."""

    def __init__(self, wrapped: Any, *, name: str | None = None, **settings: Any) -> None:
        super().__init__(wrapped, name=name or "guarded_optimizer")
        self.guard_with(GuardSettings(**settings))
        self.callback = TfKerasStop(self)

    def build(self, var_list: Iterable[Any]) -> None:
        variables = list(var_list)
        super().build(variables)
        self.guarding.build(self.wrapped, variables)

    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def apply_gradients(
        self, grads_and_vars: Iterable[tuple[Any, Any]], name: str | None = None, **options: Any
    ) -> Any:
        """Apply these gradients, unless they are not finite."""
        given, variables = pairs_of(grads_and_vars)
        with tf.init_scope():
            self.build(variables)
        attend_batches(self)

        def apply(gradients: list[Any]) -> None:
            self.wrapped.apply_gradients(list(zip(gradients, variables, strict=True)), name=name, **options)

        self.guarding.step(self.wrapped, given, variables, apply)
        return self.iterations

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **self.guarding.settings.config()}


@tf_keras.saving.register_keras_serializable(package="whygrad")
class LossScaledGuardedOptimizer(LossScaling, GuardedOptimizer, LossScaleOptimizer):  # type: ignore[misc]
    """The same around a LossScaleOptimizer: being one, it is not wrapped in a second one by `compile`."""
