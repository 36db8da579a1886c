"""A Keras 3 optimizer around another that leaves everything but the gradients to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import keras

from whygrad.backends.tensorflow import compat
from whygrad.training.wrapping.delegating import Delegating, pairs_of


class OptimizerWrapper(Delegating, keras.optimizers.Optimizer):  # type: ignore[misc]
    """Delegates learning rate, iterations, slots, EMA and loss scaling to `wrapped`."""

    def __init__(self, wrapped: Any, *, name: str | None) -> None:
        # Not super(): where this is a LossScaleOptimizer too, that one would want to wrap.
        keras.optimizers.Optimizer.__init__(self, learning_rate=0.0, name=name)
        self.wrapped = wrapped

    def build(self, variables: Iterable[Any]) -> None:
        variables = list(variables)
        compat.build(self.wrapped, variables)
        keras.optimizers.Optimizer.build(self, variables)

    @property
    def variables(self) -> list[Any]:
        return list(self.wrapped.variables)

    @property
    def iterations(self) -> Any:
        """How many updates there were, not how many micro-batches."""
        return self.wrapped.iterations

    def scale_loss(self, loss: Any) -> Any:
        return self.wrapped.scale_loss(loss)

    def finalize_variable_values(self, var_list: Any) -> None:
        self.wrapped.finalize_variable_values(var_list)

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Any]], **options: Any) -> Any:
        self.apply(*pairs_of(grads_and_vars), **options)
        return self.iterations

    def save_own_variables(self, store: Any) -> None:
        """Nothing: Keras saves the wrapped optimizer beside this one."""

    def load_own_variables(self, store: Any) -> None:
        """Nothing: see `save_own_variables`."""

    def get_config(self) -> dict[str, Any]:
        return {"name": self.name, "wrapped": keras.saving.serialize_keras_object(self.wrapped)}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        config = dict(config)
        wrapped = keras.saving.deserialize_keras_object(config.pop("wrapped"), custom_objects=custom_objects)
        return cls(wrapped, **config)
