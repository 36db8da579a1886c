"""What the store has to tell while a training runs: one line on stderr, never an exception."""

from __future__ import annotations

import contextlib
import sys


def warn(text: str) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):  # stderr is closed, or not there
        print(f"whygrad: warning: {text}", file=sys.stderr, flush=True)
