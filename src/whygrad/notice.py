"""What whygrad says while somebody else's program runs: one line on stderr, never an exception."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from typing import TextIO


def warning(text: str) -> str:
    """The form of every warning."""
    return f"whygrad: warning: {text}"


def warn(text: str, stream: TextIO | None = None) -> None:
    """Write a warning to stderr, or to another stream."""
    _say(warning(text), stream)


def remark(text: str, stream: TextIO | None = None) -> None:
    """Write what is worth knowing, and no warning, to stderr, or to another stream."""
    _say(f"whygrad: {text}", stream)


def _say(line: str, stream: TextIO | None) -> None:
    stream = stream or sys.stderr
    with contextlib.suppress(OSError, ValueError, AttributeError):  # it is closed, or not there
        stream.write(f"{line}\n")
        stream.flush()


def spot(error: BaseException) -> str:
    """Where in whygrad an error was raised: ` at file.py:12`."""
    frames = traceback.extract_tb(error.__traceback__)
    return f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
