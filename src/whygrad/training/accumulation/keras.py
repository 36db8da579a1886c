"""`wg.accumulate` for Keras 3: an optimizer that updates once per window."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import keras
import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.training.accumulation.each_microbatch import Settings
from whygrad.training.accumulation.epoch_end import EpochEnd, attend_epochs
from whygrad.training.accumulation.window_owner import WindowOwner
from whygrad.training.wrapping.keras import OptimizerWrapper


class KerasEpochEnd(EpochEnd, keras.callbacks.Callback):  # type: ignore[misc]
    """Closes the window of an accumulating optimizer at the end of each epoch; `fit` gets it by itself."""

    def __init__(self, optimizer: Any) -> None:
        super().__init__()
        self.optimizer = optimizer


@keras.saving.register_keras_serializable(package="whygrad")
class AccumulatingOptimizer(WindowOwner, OptimizerWrapper):
    """Collects the gradients of `steps` micro-batches and updates with what the big batch's gradient would be."""

    def __init__(self, wrapped: Any, *, name: str | None = None, **settings: Any) -> None:
        super().__init__(wrapped, name=name or f"accumulating_{wrapped.name}")
        self.settings = Settings(**settings)
        self.callback = KerasEpochEnd(self)

    def build(self, variables: Iterable[Any]) -> None:
        """Create the slots of the wrapped optimizer and an empty window."""
        variables = list(variables)
        super().build(variables)
        self.open_window(_Updater(self.wrapped), variables)

    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def apply(self, grads: Iterable[Any], trainable_variables: Any = None, weight: Any = None) -> None:
        """Add a micro-batch, and update with the window once it holds `steps` of them."""
        gradients = list(grads)
        variables = compat.trained_by(self) if trainable_variables is None else list(trainable_variables)
        if not self.built:
            with tf.init_scope():
                self.build(variables)
        assert self.accumulation is not None
        attend_epochs(self)
        with tf.name_scope(self.name):
            self.accumulation.microbatch(gradients, variables, weight, self.inner_optimizer)

    def save_own_variables(self, store: Any) -> None:
        """The window, also if half-full; Keras saves the wrapped optimizer beside it."""
        self.save_window(store)

    def load_own_variables(self, store: Any) -> None:
        self.load_window(store)

    def get_config(self) -> dict[str, Any]:
        settings = asdict(self.settings)
        if callable(settings["weight"]):
            settings["weight"] = keras.saving.serialize_keras_object(settings["weight"])
        return {**super().get_config(), **settings}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        config = dict(config)
        if isinstance(config.get("weight"), dict):
            config["weight"] = keras.saving.deserialize_keras_object(config["weight"], custom_objects=custom_objects)
        return super().from_config(config, custom_objects)


@keras.saving.register_keras_serializable(package="whygrad")
class LossScaledAccumulatingOptimizer(AccumulatingOptimizer, keras.optimizers.LossScaleOptimizer):  # type: ignore[misc]
    """The same around a LossScaleOptimizer: being one, it is not wrapped in a second one by `compile`."""


class _Updater:
    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer

    def send(self, gradients: list[Any], variables: list[Any]) -> None:
        self._optimizer.apply(_on_first_replica(gradients), variables)

    def loss_scale(self) -> Any:
        return compat.dynamic_scale_of(self._optimizer)

    def lower_loss_scale(self, gradients: list[Any], variables: list[Any]) -> Any:
        before = self.loss_scale()
        if before is None:
            return None
        self._optimizer.apply(gradients, variables)  # not finite: it lowers its scale and updates nothing
        return self.loss_scale() / before  # Keras 3 unscales in apply, so the sums are in the old scale


def _on_first_replica(gradients: list[Any]) -> list[Any]:
    """The sum over all replicas on the first, zeros on the others.

    Keras 3 clips, and looks for NaN, on each replica before it sums; this way it does so with the whole gradient.
    """
    context = tf.distribute.get_replica_context()
    if context is None or context.num_replicas_in_sync == 1:
        return gradients
    present = [gradient for gradient in gradients if gradient is not None]
    whole = iter(context.all_reduce(tf.distribute.ReduceOp.SUM, present))
    first = tf.equal(context.replica_id_in_sync_group, 0)
    return [None if g is None else tf.where(first, total := next(whole), tf.zeros_like(total)) for g in gradients]
