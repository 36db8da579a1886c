"""Saying, once an epoch, that micro-batches were left out."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from whygrad.errors import AccumulationWarning

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.accumulation import Accumulation


class EpochReport:
    """Remembers what was told, so that each epoch tells only its own."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._told = 0

    def tell(self, accumulation: Accumulation) -> None:
        """Warn if micro-batches were dropped since the last time."""
        dropped = int(accumulation.window.first_replica(accumulation.window.dropped).numpy())
        new, self._told = dropped - self._told, dropped
        if new <= 0:
            return
        scale = accumulation.updater.loss_scale()
        now = "" if scale is None else f"; the loss scale is now {float(scale):g}"
        what = "their window" if accumulation.settings.nonfinite == "window" else "nothing else"
        warnings.warn(
            f"{new} micro-batches with non-finite gradients were left out of the updates, and {what} with them{now}"
            if accumulation.settings.nonfinite == "microbatch"
            else f"{new} micro-batches were left out of the updates: a gradient in their window was not finite{now}",
            AccumulationWarning,
            stacklevel=2,
        )
