"""`wg.accumulate` for Keras 3: an optimizer that updates once per window."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import keras
import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.accumulation import Accumulation, Settings
from whygrad.backends.tensorflow.accumulation_state import restore, state_of
from whygrad.backends.tensorflow.epoch_end import EpochEnd, attend_epochs
from whygrad.backends.tensorflow.epoch_report import EpochReport
from whygrad.backends.tensorflow.keras_wrapper import OptimizerWrapper


class KerasEpochEnd(EpochEnd, keras.callbacks.Callback):  # type: ignore[misc]
    """Closes the window of an accumulating optimizer at the end of each epoch; `fit` gets it by itself."""

    def __init__(self, optimizer: Any) -> None:
        super().__init__()
        self.optimizer = optimizer


@keras.saving.register_keras_serializable(package="whygrad")  # type: ignore[untyped-decorator]
class AccumulatingOptimizer(OptimizerWrapper):
    """Collects the gradients of `steps` micro-batches and updates with what the big batch's gradient would be."""

    def __init__(self, wrapped: Any, *, name: str | None = None, **settings: Any) -> None:
        super().__init__(wrapped, name=name or f"accumulating_{wrapped.name}")
        self.settings = Settings(**settings)
        self.accumulation: Accumulation | None = None
        self.callback = KerasEpochEnd(self)
        self._report = EpochReport()

    def build(self, variables: Iterable[Any]) -> None:
        """Create the slots of the wrapped optimizer and an empty window."""
        variables = list(variables)
        super().build(variables)
        if self.accumulation is None:
            accumulation = Accumulation(self.settings, _Updater(self.wrapped))
            self.window = accumulation.window
            self.accumulation = accumulation
        self.accumulation.build(variables)

    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def apply(self, grads: Iterable[Any], trainable_variables: Any = None, weight: Any = None) -> None:
        """Add a micro-batch, and update with the window once it holds `steps` of them."""
        gradients = list(grads)
        variables = list(self._trainable_variables if trainable_variables is None else trainable_variables)
        if not self.built:
            with tf.init_scope():
                self.build(variables)
        assert self.accumulation is not None
        attend_epochs(self)
        with tf.name_scope(self.name):
            self.accumulation.microbatch(gradients, variables, weight, self)

    def flush(self) -> bool:
        """Update now with a part-filled window, rightly weighted; False if there is nothing in it."""
        return self.accumulation is not None and self.accumulation.flush()

    def reset(self) -> None:
        """Forget a part-filled window."""
        if self.accumulation is not None:
            self.accumulation.drop()

    def end_of_epoch(self) -> None:
        """Treat a part-filled window as `partial` says, and tell of micro-batches that were left out."""
        if self.accumulation is not None:
            self.accumulation.end_of_epoch()
            self._report.tell(self.accumulation)

    def save_own_variables(self, store: Any) -> None:
        """The window, also if half-full; Keras saves the wrapped optimizer beside it."""
        if self.accumulation is not None:
            for key, value in state_of(self.accumulation.window).items():
                store[key] = value

    def load_own_variables(self, store: Any) -> None:
        state = {key: store[key][()] for key in store.keys()}  # noqa: SIM118
        if self.accumulation is not None and state:
            restore(self.accumulation.window, state)

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


@keras.saving.register_keras_serializable(package="whygrad")  # type: ignore[untyped-decorator]
class LossScaledAccumulatingOptimizer(AccumulatingOptimizer, keras.optimizers.LossScaleOptimizer):  # type: ignore[misc]
    """The same around a LossScaleOptimizer: being one, it is not wrapped in a second one by `compile`."""


class _Updater:
    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer

    def send(self, gradients: list[Any], variables: list[Any]) -> None:
        self._optimizer.apply(gradients, variables)

    def loss_scale(self) -> Any:
        return compat.dynamic_scale_of(self._optimizer)

    def lower_loss_scale(self, gradients: list[Any], variables: list[Any]) -> Any:
        before = self.loss_scale()
        if before is None:
            return None
        self._optimizer.apply(gradients, variables)  # not finite: it lowers its scale and updates nothing
        return self.loss_scale() / before  # Keras 3 unscales in apply, so the sums are in the old scale
