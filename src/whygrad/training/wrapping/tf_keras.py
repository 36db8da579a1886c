"""A tf_keras optimizer around another that leaves everything but the gradients to it."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Any, ClassVar, Final

import tensorflow as tf
import tf_keras

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.measure.graph_building import unconverted
from whygrad.training.wrapping.delegating import Delegating, passed_on

LossScaleOptimizer: Final = tf_keras.mixed_precision.LossScaleOptimizer
_FROM_WRAPPED: Final = (
    *("dynamic", "loss_scale", "dynamic_counter", "initial_scale", "dynamic_growth_steps"),
    *("get_scaled_loss", "get_unscaled_gradients"),
)


class OptimizerWrapper(Delegating, tf_keras.optimizers.Optimizer):  # type: ignore[misc]
    """Delegates learning rate, iterations, slots, EMA and loss scaling to `wrapped`, new style or legacy.

    A behaviour in front of it defines `step(gradients, variables, name, **options)`, which calls `hand_over`.
    """

    SAVING = tf_keras.saving
    CALLBACK = tf_keras.callbacks.Callback
    UNSCALES_IN_APPLY: ClassVar = False

    def __init__(self, wrapped: Any, *, name: str | None = None) -> None:
        name = name or f"{self.PREFIX}_optimizer"
        tf_keras.optimizers.Optimizer.__init__(self, name=name, weight_decay=None, jit_compile=False)
        self.wrapped = wrapped

    def build(self, var_list: Iterable[Any]) -> None:
        compat.build(self.wrapped, var_list)

    @unconverted
    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        name: str | None = None,
        skip_gradients_aggregation: bool = False,
        **options: Any,
    ) -> Any:
        pairs = list(grads_and_vars)
        gradients, variables = [gradient for gradient, _ in pairs], [variable for _, variable in pairs]
        with tf.init_scope():
            self.build(variables)
        if skip_gradients_aggregation:
            options["skip_gradients_aggregation"] = True
        self.step(gradients, variables, name, **options)
        return self.iterations

    def hand_over(self, gradients: list[Any], variables: list[Any], name: str | None = None, **options: Any) -> None:
        """Give gradients to the wrapped optimizer."""
        named = {} if name is None else {"name": name}
        self.wrapped.apply_gradients(list(zip(gradients, variables, strict=True)), **named, **options)

    def update_step(self, gradient: Any, variable: Any) -> Any:
        raise NotImplementedError("updates are made by the wrapped optimizer")

    @property
    def variables(self) -> Any:
        own = self.wrapped.variables
        return own() if callable(own) and not hasattr(own, "__len__") else own

    lr = passed_on("learning_rate")

    def compute_gradients(self, loss: Any, var_list: Any, tape: Any = None) -> Any:
        """The wrapped optimizer's: with loss scaling it scales the loss here, and unscales the gradients."""
        return compat.gradients_of(self.wrapped, loss, var_list, tape)

    def minimize(self, loss: Any, var_list: Any, tape: Any = None) -> None:
        self.apply_gradients(self.compute_gradients(loss, var_list, tape))

    def finalize_variable_values(self, var_list: Any) -> None:
        if hasattr(self.wrapped, "finalize_variable_values"):
            self.wrapped.finalize_variable_values(var_list)

    def save_own_variables(self, store: Any) -> None:
        """What a legacy optimizer holds; a new one is saved by tf_keras as well as this one."""
        if not isinstance(self.wrapped, tf_keras.optimizers.Optimizer):
            for i, value in enumerate(self.wrapped.get_weights()):
                store[f"legacy_{i}"] = value

    def load_own_variables(self, store: Any) -> None:
        names = [name for name in store.keys() if name.startswith("legacy_")]  # noqa: SIM118
        if names:
            self.wrapped.set_weights([store[f"legacy_{i}"][()] for i in range(len(names))])

    def get_config(self) -> dict[str, Any]:
        return {"name": self.name, "wrapped": tf_keras.optimizers.serialize(self.wrapped), "is_legacy_optimizer": False}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        config = dict(config)
        config.pop("is_legacy_optimizer", None)
        wrapped = config.pop("wrapped")
        if isinstance(wrapped, dict):
            wrapped = tf_keras.optimizers.deserialize(wrapped, custom_objects=custom_objects)
        return cls(wrapped, **config)  # by place: the metaclass of a LossScaleOptimizer has another name for it


# What a tf_keras LossScaleOptimizer offers, from the one that is wrapped.
LOSS_SCALING: Final = (
    type("LossScaling", (), {name: property(attrgetter(f"wrapped.{name}")) for name in _FROM_WRAPPED}),
)
