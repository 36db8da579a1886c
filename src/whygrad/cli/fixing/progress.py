"""One line on the terminal that says what is going on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_FIRST: Final = 1.0  # seconds before there is anything to say


class Progress:
    """Written over itself on a terminal; elsewhere nothing is said."""

    def __init__(self) -> None:
        stream = sys.stderr
        self._stream = stream if stream is not None and stream.isatty() else None
        self._what = ""
        self._shown = -1

    @contextmanager
    def of(self, what: str) -> Iterator[None]:
        """What is going on inside the block."""
        self._what, self._shown = what, -1
        try:
            yield
        finally:
            if self._stream is not None and self._shown >= 0:
                self._stream.write("\r\x1b[K")
                self._stream.flush()

    def tick(self, age: float) -> None:
        """It has been going on for so many seconds."""
        if self._stream is not None and age >= _FIRST and int(age) != self._shown:
            self._shown = int(age)
            self._stream.write(f"\r\x1b[Kwhygrad: {self._what} ({self._shown} s)")
            self._stream.flush()
