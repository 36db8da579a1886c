"""An optional line in the terminal: step, loss, norm of all gradients, worst variable."""

from __future__ import annotations

import sys
import time
from typing import Final, TextIO

from whygrad.training.monitor.collector import Glimpse

_SECONDS: Final = 0.5


class ProgressLine:
    """One line that is written over on a terminal; elsewhere a line now and then."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._over = self._stream.isatty()
        self._last = -1
        self._next = 0.0
        self._pause = _SECONDS if self._over else 10 * _SECONDS

    def show(self, glimpse: Glimpse | None, *, final: bool = False) -> None:
        now = time.monotonic()
        if glimpse is None or glimpse.step == self._last or (now < self._next and not final):
            return
        self._last, self._next = glimpse.step, now + self._pause
        text = line_of(glimpse)
        self._stream.write(f"\r\x1b[2K{text}" if self._over else f"{text}\n")
        if final and self._over:
            self._stream.write("\n")
        self._stream.flush()


def line_of(glimpse: Glimpse) -> str:
    share = glimpse.worst_norm / glimpse.norm if glimpse.norm else 0.0
    worst = f"{glimpse.worst} {glimpse.worst_norm:.3g}" + (f" ({share:.0%})" if share == share else "")
    return f"step {glimpse.step}  loss {glimpse.loss:.4g}  |gradient| {glimpse.norm:.3g}  worst {worst}"
