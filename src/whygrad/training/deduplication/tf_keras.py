"""`wg.deduplicate` for tf_keras."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf
import tf_keras
from tf_keras.mixed_precision import LossScaleOptimizer

from whygrad.backends.tensorflow.measure.sparse_rows import without_repeated_rows
from whygrad.training.wrapping.delegating import pairs_of
from whygrad.training.wrapping.tf_keras import LossScaling, OptimizerWrapper


@tf_keras.saving.register_keras_serializable(package="whygrad")
class DeduplicatingOptimizer(OptimizerWrapper):
    """Sums the repeated rows of sparse gradients and hands them to the wrapped optimizer."""

    def __init__(self, wrapped: Any, *, name: str | None = None) -> None:
        super().__init__(wrapped, name=name or "deduplicating_optimizer")

    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Any]], *args: Any, **kwargs: Any) -> Any:
        gradients, variables = pairs_of(grads_and_vars)
        with tf.init_scope():
            self.build(variables)
        once = [without_repeated_rows(gradient) for gradient in gradients]
        return self.wrapped.apply_gradients(list(zip(once, variables, strict=True)), *args, **kwargs)


@tf_keras.saving.register_keras_serializable(package="whygrad")
class LossScaledDeduplicatingOptimizer(LossScaling, DeduplicatingOptimizer, LossScaleOptimizer):  # type: ignore[misc]
    """The same around a LossScaleOptimizer: being one, it is not wrapped in a second one by `compile`."""
