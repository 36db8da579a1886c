"""A Keras 3 optimizer around another that leaves everything but the gradients to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Final

import keras
import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.measure.graph_building import unconverted
from whygrad.training.wrapping.delegating import Delegating

LossScaleOptimizer: Final = keras.optimizers.LossScaleOptimizer
LOSS_SCALING: Final = ()  # attributes that LossScaleOptimizer has and does not delegate


class OptimizerWrapper(Delegating, keras.optimizers.Optimizer):  # type: ignore[misc]
    """Delegates learning rate, iterations, slots, EMA and loss scaling to `wrapped`.

    A behaviour in front of it defines `step(gradients, variables, name, **options)`, which calls `hand_over`.
    """

    SAVING = keras.saving
    CALLBACK = keras.callbacks.Callback
    UNSCALES_IN_APPLY: ClassVar = True  # and clips, and looks for NaN, there: on each replica

    def __init__(self, wrapped: Any, *, name: str | None = None) -> None:
        # Not super(): where this is a LossScaleOptimizer too, that one would want to wrap.
        keras.optimizers.Optimizer.__init__(self, learning_rate=0.0, name=name or f"{self.PREFIX}_{wrapped.name}")
        self.wrapped = wrapped

    def build(self, variables: Iterable[Any]) -> None:
        variables = list(variables)
        compat.build(self.wrapped, variables)
        keras.optimizers.Optimizer.build(self, variables)

    @unconverted
    def apply(self, grads: Iterable[Any], trainable_variables: Any = None, **options: Any) -> None:
        variables = compat.trainables_of(self) if trainable_variables is None else list(trainable_variables)
        if not self.built:
            with tf.init_scope():
                self.build(variables)
        self.step(list(grads), variables, None, **options)

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Any]], **options: Any) -> Any:
        pairs = list(grads_and_vars)
        self.apply([gradient for gradient, _ in pairs], [variable for _, variable in pairs], **options)
        return self.iterations

    def hand_over(self, gradients: list[Any], variables: list[Any], name: str | None = None, **options: Any) -> None:
        """Give gradients to the wrapped optimizer."""
        self.wrapped.apply(gradients, variables, **options)

    @property
    def variables(self) -> list[Any]:
        return list(self.wrapped.variables)

    def scale_loss(self, loss: Any) -> Any:
        return self.wrapped.scale_loss(loss)

    def finalize_variable_values(self, var_list: Any) -> None:
        self.wrapped.finalize_variable_values(var_list)

    def save_own_variables(self, store: Any) -> None:
        """Nothing: Keras saves the wrapped optimizer as well as this one."""

    def load_own_variables(self, store: Any) -> None:
        """Nothing: see `save_own_variables`."""

    def get_config(self) -> dict[str, Any]:
        return {"name": self.name, "wrapped": self.SAVING.serialize_keras_object(self.wrapped)}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        config = dict(config)
        wrapped = cls.SAVING.deserialize_keras_object(config.pop("wrapped"), custom_objects)
        return cls(wrapped, **config)
