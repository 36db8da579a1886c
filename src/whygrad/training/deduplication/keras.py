"""`wg.deduplicate` for Keras 3."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import keras
import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.measure.sparse_rows import without_repeated_rows
from whygrad.training.wrapping.keras import OptimizerWrapper


@keras.saving.register_keras_serializable(package="whygrad")
class DeduplicatingOptimizer(OptimizerWrapper):
    """Sums the repeated rows of sparse gradients and hands them to the wrapped optimizer."""

    def __init__(self, wrapped: Any, *, name: str | None = None) -> None:
        super().__init__(wrapped, name=name or f"deduplicating_{wrapped.name}")

    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def apply(self, grads: Iterable[Any], trainable_variables: Any = None) -> None:
        variables = compat.trained_by(self) if trainable_variables is None else list(trainable_variables)
        if not self.built:
            with tf.init_scope():
                self.build(variables)
        self.wrapped.apply([without_repeated_rows(gradient) for gradient in grads], variables)


@keras.saving.register_keras_serializable(package="whygrad")
class LossScaledDeduplicatingOptimizer(DeduplicatingOptimizer, keras.optimizers.LossScaleOptimizer):  # type: ignore[misc]
    """The same around a LossScaleOptimizer: being one, it is not wrapped in a second one by `compile`."""
