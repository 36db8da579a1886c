"""The behaviour of an accumulating optimizer in either Keras: its window, and what is done with it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.errors import AccumulationError, AccumulationWarning
from whygrad.training.accumulation.arguments import Settings
from whygrad.training.accumulation.window_state import restore, state_of
from whygrad.training.accumulation.window_updates import WindowUpdates
from whygrad.training.wrapping.by_keras import Behaviour
from whygrad.training.wrapping.fit_callbacks import JoiningTrainFunction, join_fit, model_in_training


class EpochEnd:
    """Mixin for a Keras callback: closes the window before validation and before the epoch's other callbacks."""

    optimizer: AccumulatingOptimizer

    def on_test_begin(self, logs: Any = None) -> None:
        self.optimizer.end_of_epoch()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.optimizer.end_of_epoch()


class AccumulatingOptimizer(Behaviour):
    """Collects the gradients of `steps` micro-batches and updates with what the big batch's gradient would be."""

    PREFIX = "accumulating"
    accumulation: WindowUpdates | None = None
    _reported = 0  # dropped micro-batches

    def __init__(self, wrapped: Any, *, name: str | None = None, **settings: Any) -> None:
        super().__init__(wrapped, name=name)
        self.settings = Settings(**settings)
        self.callback = self.new_callback(EpochEnd)

    def build(self, variables: Iterable[Any]) -> None:
        """Create the slots of the wrapped optimizer and, once, an empty window in the strategy that is current."""
        variables = list(variables)
        super().build(variables)
        with tf.init_scope():  # Keras may build an optimizer while it traces
            if self.accumulation is None:
                accumulation = WindowUpdates(self.settings, self)
                self.window = accumulation.window  # tracked by checkpoints
                self.accumulation = accumulation
            self.accumulation.build(variables)

    def step(
        self,
        gradients: list[Any],
        variables: list[Any],
        name: str | None,
        weight: Any = None,
        skip_gradients_aggregation: bool = False,
        **options: Any,
    ) -> None:
        """Add a micro-batch, and update with the window once it holds `steps` of them."""
        assert self.accumulation is not None
        if self.accumulation.strategy is not None and skip_gradients_aggregation:
            raise AccumulationError(
                "gradients that were summed over the replicas cannot be accumulated on each of them",
                help="wrap the other way round: wg.accumulate(LossScaleOptimizer(optimizer), steps=...)",
            )
        attend_epochs(self)
        with tf.name_scope(name or self.name):
            self.accumulation.microbatch(gradients, variables, weight, self.inner_optimizer)

    @property
    def microbatches(self) -> int:
        """How many micro-batches wait in the window."""
        return self._count("microbatches")

    @property
    def dropped(self) -> int:
        """How many micro-batches were left out so far because a gradient was not finite."""
        return self._count("dropped")

    @property
    def notes(self) -> tuple[str, ...]:
        """Variables that had no gradient in some micro-batches, and how often."""
        return () if self.accumulation is None else self.accumulation.window.notes()

    def flush(self) -> bool:
        """Update now with a part-filled window, rightly weighted; False if there is nothing in it."""
        return self.accumulation is not None and self.accumulation.flush()

    def reset(self) -> None:
        """Forget a part-filled window."""
        if self.accumulation is not None:
            self.accumulation.drop()

    def end_of_epoch(self) -> None:
        """Treat a part-filled window as `partial` says, and report micro-batches that were left out."""
        if self.accumulation is not None:
            self.accumulation.end_of_epoch()
            self._report(self.accumulation)

    def save_own_variables(self, store: Any) -> None:
        """The window too, its sums only if it is part-filled."""
        super().save_own_variables(store)
        if self.accumulation is not None:
            for key, value in state_of(self.accumulation.window).items():
                store[key] = value

    def load_own_variables(self, store: Any) -> None:
        """Go on with a window from a Keras file; a file without one changes nothing."""
        super().load_own_variables(store)
        if self.accumulation is not None and "microbatches" in store.keys():  # noqa: SIM118
            restore(self.accumulation.window, {key: store[key][()] for key in store.keys()})  # noqa: SIM118

    def get_config(self) -> dict[str, Any]:
        settings = asdict(self.settings)
        if callable(settings["weight"]):
            settings["weight"] = self.SAVING.serialize_keras_object(settings["weight"])
        return {**super().get_config(), **settings}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        if isinstance(config.get("weight"), dict):
            weight = cls.SAVING.deserialize_keras_object(config["weight"], custom_objects)
            config = {**config, "weight": weight}
        return super().from_config(config, custom_objects)

    def _count(self, name: str) -> int:
        if self.accumulation is None:
            return 0
        window = self.accumulation.window
        return int(window.first_replica(getattr(window, name)).numpy())

    def _report(self, accumulation: WindowUpdates) -> None:
        dropped = self.dropped
        new, self._reported = dropped - self._reported, dropped
        if new <= 0:
            return
        whole = self.settings.nonfinite == "window"
        why = "a gradient in their window was not finite" if whole else "their gradients were not finite"
        scale = accumulation.loss_scale()
        now = "" if scale is None else f"; the loss scale is now {float(scale):g}"
        message = f"{new} micro-batches were left out of the updates: {why}{now}"
        warnings.warn(message, AccumulationWarning, stacklevel=3)


def attend_epochs(optimizer: AccumulatingOptimizer) -> None:
    """Called from inside a train_step: have `optimizer.callback` called in this `fit` and those to come."""
    model = model_in_training()
    if model is None:
        return
    if not isinstance(model.train_function, JoiningTrainFunction):
        model.train_function = JoiningTrainFunction(model.train_function, model)
    fit = join_fit(model, optimizer.callback)  # None in train_on_batch: there are no epochs
    if fit is not None and compat.callback_list_of(fit, model) is None:
        warnings.warn(
            "this Keras does not show the callbacks of a running fit: a window left unfinished at the end of an epoch "
            "is carried into the next; pass callbacks=[optimizer.callback] to fit",
            AccumulationWarning,
            stacklevel=2,
        )
