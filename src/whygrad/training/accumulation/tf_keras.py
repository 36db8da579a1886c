"""`wg.accumulate` for tf_keras (Keras 2): an optimizer that updates once per window."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import tensorflow as tf
import tf_keras
from tf_keras.mixed_precision import LossScaleOptimizer

from whygrad.backends.tensorflow import compat
from whygrad.errors import AccumulationError
from whygrad.training.accumulation.each_microbatch import Settings
from whygrad.training.accumulation.epoch_end import EpochEnd, attend_epochs
from whygrad.training.accumulation.window_owner import WindowOwner
from whygrad.training.wrapping.delegating import pairs_of
from whygrad.training.wrapping.tf_keras import LossScaling, OptimizerWrapper


class TfKerasEpochEnd(EpochEnd, tf_keras.callbacks.Callback):  # type: ignore[misc]
    """Closes the window of an accumulating optimizer at the end of each epoch; `fit` gets it by itself."""

    def __init__(self, optimizer: Any) -> None:
        super().__init__()
        self.optimizer = optimizer


@tf_keras.saving.register_keras_serializable(package="whygrad")
class AccumulatingOptimizer(WindowOwner, OptimizerWrapper):
    """Collects the gradients of `steps` micro-batches and updates with what the big batch's gradient would be."""

    def __init__(self, wrapped: Any, *, name: str | None = None, **settings: Any) -> None:
        super().__init__(wrapped, name=name or "accumulating_optimizer")
        self.settings = Settings(**settings)
        self.callback = TfKerasEpochEnd(self)

    def build(self, var_list: Iterable[Any]) -> None:
        """Create the slots of the wrapped optimizer and an empty window."""
        variables = list(var_list)
        super().build(variables)
        self.open_window(_Updater(self.wrapped), variables)

    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        name: str | None = None,
        skip_gradients_aggregation: bool = False,
        weight: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Add a micro-batch, and update with the window once it holds `steps` of them."""
        gradients, variables = pairs_of(grads_and_vars)
        with tf.init_scope():
            self.build(variables)
        assert self.accumulation is not None
        if self.accumulation.strategy is not None and skip_gradients_aggregation:
            raise AccumulationError(
                "gradients that were summed over the replicas cannot be accumulated on each of them",
                help="wrap the other way round: wg.accumulate(LossScaleOptimizer(optimizer), steps=...)",
            )
        attend_epochs(self)
        with tf.name_scope(name or self.name):
            self.accumulation.microbatch(gradients, variables, weight, self.inner_optimizer)
        return self.iterations

    def save_own_variables(self, store: Any) -> None:
        """The window, also if half-full."""
        super().save_own_variables(store)
        self.save_window(store)

    def load_own_variables(self, store: Any) -> None:
        super().load_own_variables(store)
        self.load_window(store)

    def get_config(self) -> dict[str, Any]:
        settings = asdict(self.settings)
        if callable(settings["weight"]):
            settings["weight"] = tf_keras.saving.serialize_keras_object(settings["weight"])
        return {**super().get_config(), **settings}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        config = dict(config)
        if isinstance(config.get("weight"), dict):
            config["weight"] = tf_keras.saving.deserialize_keras_object(config["weight"], custom_objects)
        return super().from_config(config, custom_objects)


@tf_keras.saving.register_keras_serializable(package="whygrad")
class LossScaledAccumulatingOptimizer(LossScaling, AccumulatingOptimizer, LossScaleOptimizer):  # type: ignore[misc]
    """The same around a LossScaleOptimizer: being one, it is not wrapped in a second one by `compile`."""


class _Updater:
    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer

    def send(self, gradients: list[Any], variables: list[Any]) -> None:
        self._optimizer.apply_gradients(list(zip(gradients, variables, strict=True)))

    def loss_scale(self) -> Any:
        return compat.dynamic_scale_of(self._optimizer)

    def lower_loss_scale(self, gradients: list[Any], variables: list[Any]) -> Any:
        if self.loss_scale() is not None:
            before = tf.identity(self._optimizer.iterations)
            self.send(gradients, variables)  # not finite: it lowers its scale and updates nothing
            self._optimizer.iterations.assign(before)  # though it counts it as an iteration
        return None  # tf_keras unscales before apply_gradients: the sums need no change
