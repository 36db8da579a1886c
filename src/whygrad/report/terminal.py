"""What the place that a report is written to can show."""

from __future__ import annotations

import os
from typing import TextIO

_DEFAULT_WIDTH = 100


def wants_color(stream: TextIO) -> bool:
    """Colour on a terminal only; `NO_COLOR` forbids it, `FORCE_COLOR` asks for it in a pipe too."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return os.environ.get("TERM") != "dumb" and _is_terminal(stream)


def terminal_width(stream: TextIO) -> int:
    """The width of the terminal, or 100 where there is none; `COLUMNS` overrules both."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    if not _is_terminal(stream):
        return _DEFAULT_WIDTH
    try:
        return os.get_terminal_size(stream.fileno()).columns or _DEFAULT_WIDTH
    except (OSError, ValueError):
        return _DEFAULT_WIDTH


def write_report(stream: TextIO, text: str) -> None:
    """Write text and a line end; what the stream's encoding lacks is written as an escape, not raised."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(f"{text}\n".encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # replaced by something that is not a stream, or closed
        return False
