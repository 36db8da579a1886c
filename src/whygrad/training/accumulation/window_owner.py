"""The half of an accumulating optimizer that Keras 3 and tf_keras share: its window, and what is done with it."""

from __future__ import annotations

import warnings
from typing import Any

import tensorflow as tf

from whygrad.errors import AccumulationWarning
from whygrad.training.accumulation.each_microbatch import Accumulation, Settings, Updater
from whygrad.training.accumulation.window_state import restore, state_of


class WindowOwner:
    """Mixin for an optimizer; `settings` and `accumulation` are set by it."""

    settings: Settings
    accumulation: Accumulation | None = None
    _told = 0  # dropped micro-batches that were reported

    def open_window(self, updater: Updater, variables: list[Any]) -> None:
        """Make an empty window, once, in the strategy that is current."""
        with tf.init_scope():  # Keras may build an optimizer while it traces
            if self.accumulation is None:
                accumulation = Accumulation(self.settings, updater)
                self.window = accumulation.window  # tracked by checkpoints
                self.accumulation = accumulation
            self.accumulation.build(variables)

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
        """Treat a part-filled window as `partial` says, and tell of micro-batches that were left out."""
        if self.accumulation is not None:
            self.accumulation.end_of_epoch()
            self._tell(self.accumulation)

    def save_window(self, store: Any) -> None:
        """Put the window into a Keras file, its sums only if it is part-filled."""
        if self.accumulation is not None:
            for key, value in state_of(self.accumulation.window).items():
                store[key] = value

    def load_window(self, store: Any) -> None:
        """Go on with a window from a Keras file; a file without one changes nothing."""
        if self.accumulation is not None and "microbatches" in store.keys():  # noqa: SIM118
            restore(self.accumulation.window, {key: store[key][()] for key in store.keys()})  # noqa: SIM118

    def _count(self, name: str) -> int:
        if self.accumulation is None:
            return 0
        window = self.accumulation.window
        return int(window.first_replica(getattr(window, name)).numpy())

    def _tell(self, accumulation: Accumulation) -> None:
        dropped = self.dropped
        new, self._told = dropped - self._told, dropped
        if new <= 0:
            return
        whole = self.settings.nonfinite == "window"
        why = "a gradient in their window was not finite" if whole else "their gradients were not finite"
        scale = accumulation.updater.loss_scale()
        now = "" if scale is None else f"; the loss scale is now {float(scale):g}"
        message = f"{new} micro-batches were left out of the updates: {why}{now}"
        warnings.warn(message, AccumulationWarning, stacklevel=3)
