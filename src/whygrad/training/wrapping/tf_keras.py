"""A tf_keras optimizer around another that leaves everything but the gradients to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tf_keras

from whygrad.backends.tensorflow import compat
from whygrad.training.wrapping.delegating import Delegating


class OptimizerWrapper(Delegating, tf_keras.optimizers.Optimizer):  # type: ignore[misc]
    """Delegates learning rate, iterations, slots, EMA and loss scaling to `wrapped`, new style or legacy."""

    def __init__(self, wrapped: Any, *, name: str) -> None:
        tf_keras.optimizers.Optimizer.__init__(self, name=name, weight_decay=None, jit_compile=False)
        self.wrapped = wrapped

    def build(self, var_list: Iterable[Any]) -> None:
        compat.build(self.wrapped, var_list)

    def update_step(self, gradient: Any, variable: Any) -> Any:
        raise NotImplementedError("updates are made by the wrapped optimizer")

    @property
    def variables(self) -> Any:
        own = self.wrapped.variables
        return own() if callable(own) and not hasattr(own, "__len__") else own

    @property
    def lr(self) -> Any:
        return self.wrapped.learning_rate

    @lr.setter
    def lr(self, value: Any) -> None:
        self.wrapped.learning_rate = value

    @property
    def iterations(self) -> Any:
        """How many updates there were, not how many micro-batches."""
        return self.wrapped.iterations

    @iterations.setter
    def iterations(self, variable: Any) -> None:
        self.wrapped.iterations = variable

    def compute_gradients(self, loss: Any, var_list: Any, tape: Any = None) -> Any:
        """The wrapped optimizer's: with loss scaling it scales the loss here, and unscales the gradients."""
        return compat.gradients_of(self.wrapped, loss, var_list, tape)

    def minimize(self, loss: Any, var_list: Any, tape: Any = None) -> None:
        self.apply_gradients(self.compute_gradients(loss, var_list, tape))

    def finalize_variable_values(self, var_list: Any) -> None:
        if hasattr(self.wrapped, "finalize_variable_values"):
            self.wrapped.finalize_variable_values(var_list)

    def save_own_variables(self, store: Any) -> None:
        """What a legacy optimizer holds; a new one is saved by tf_keras beside this one."""
        if not isinstance(self.wrapped, tf_keras.optimizers.Optimizer):
            for i, value in enumerate(self.wrapped.get_weights()):
                store[f"legacy_{i}"] = value

    def load_own_variables(self, store: Any) -> None:
        names = sorted((key for key in store.keys() if key.startswith("legacy_")), key=_number)  # noqa: SIM118
        if names:
            self.wrapped.set_weights([store[name][()] for name in names])

    def get_config(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "wrapped": tf_keras.optimizers.serialize(self.wrapped),
            "is_legacy_optimizer": False,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        config = dict(config)
        config.pop("is_legacy_optimizer", None)
        wrapped = config.pop("wrapped")
        if isinstance(wrapped, dict):
            wrapped = tf_keras.optimizers.deserialize(wrapped, custom_objects=custom_objects)
        return cls(wrapped, **config)


class LossScaling:
    """What a tf_keras LossScaleOptimizer offers, from the one that is wrapped."""

    wrapped: Any

    @property
    def dynamic(self) -> Any:
        return self.wrapped.dynamic

    @property
    def loss_scale(self) -> Any:
        return self.wrapped.loss_scale

    @property
    def dynamic_counter(self) -> Any:
        return self.wrapped.dynamic_counter

    @property
    def initial_scale(self) -> Any:
        return self.wrapped.initial_scale

    @property
    def dynamic_growth_steps(self) -> Any:
        return self.wrapped.dynamic_growth_steps

    def get_scaled_loss(self, loss: Any) -> Any:
        return self.wrapped.get_scaled_loss(loss)

    def get_unscaled_gradients(self, grads: Any) -> Any:
        return self.wrapped.get_unscaled_gradients(grads)


def _number(name: str) -> int:
    return int(name.rpartition("_")[2])
