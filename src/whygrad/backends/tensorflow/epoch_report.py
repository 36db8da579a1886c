"""Saying, once an epoch, that micro-batches were left out."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from whygrad.errors import AccumulationWarning

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.accumulation import Accumulation


class EpochReport:
    """Remembers what was told, so that each epoch tells only its own."""

    def __init__(self) -> None:
        self._told = 0

    def tell(self, accumulation: Accumulation) -> None:
        """Warn if micro-batches were dropped since the last time."""
        window = accumulation.window
        dropped = int(window.first_replica(window.dropped).numpy())
        new, self._told = dropped - self._told, dropped
        if new <= 0:
            return
        whole = accumulation.settings.nonfinite == "window"
        why = "a gradient in their window was not finite" if whole else "their gradients were not finite"
        scale = accumulation.updater.loss_scale()
        now = "" if scale is None else f"; the loss scale is now {float(scale):g}"
        message = f"{new} micro-batches were left out of the updates: {why}{now}"
        warnings.warn(message, AccumulationWarning, stacklevel=2)
