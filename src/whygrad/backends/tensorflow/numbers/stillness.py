"""Which variables have never changed their value: a fingerprint at first sight, compared a few times later."""

from __future__ import annotations

import math
import zlib
from typing import Any, Final

import numpy as np

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.variables import VariableEntry
from whygrad.backends.tensorflow.measure.finite import array_of

_PIECE: Final = 1 << 18  # elements


class Stillness:
    """Looks at each variable until it has moved, and then never again."""

    def __init__(self) -> None:
        self._first: dict[int, int] = {}
        self._moved: set[int] = set()
        self._still: set[int] = set()  # at a late look
        self._entries: dict[int, VariableEntry] = {}
        self._blank: set[int] = set()
        self.norms: dict[int, float] = {}  # of each variable when it was first seen with a value

    def look(self, entry: VariableEntry, *, late: bool = False) -> None:
        """Compare a variable with what it was at first; `late` says that steps enough to move it have run since."""
        if entry.id in self._moved:
            return
        seen = _fingerprint(entry)
        if seen is None:
            return
        mark, norm = seen
        self._entries[entry.id] = entry
        if norm:
            self.norms.setdefault(entry.id, norm)
        else:
            self._blank.add(entry.id)
        if self._first.setdefault(entry.id, mark) != mark:
            self._moved.add(entry.id)
            self._entries.pop(entry.id)
        elif late:
            self._still.add(entry.id)

    def weigh(self) -> None:
        """Take the norms of variables that had no value yet when they were first looked at."""
        for entry in [each for each in self._entries.values() if each.id not in self.norms]:
            seen = _fingerprint(entry)
            if seen is not None and seen[1]:
                self.norms[entry.id] = seen[1]

    def look_again(self) -> None:
        """Compare all that have not moved."""
        for entry in list(self._entries.values()):
            self.look(entry, late=True)

    def has_moved(self, number: int) -> bool | None:
        """Whether a variable has changed; None where nobody looked when it could have."""
        if number in self._moved:
            return True
        return False if number in self._still else None

    def is_blank(self, number: int) -> bool:
        """Whether every element of a variable was zero, and has been since."""
        return number in self._blank and number not in self._moved


def _fingerprint(entry: VariableEntry) -> tuple[int, float] | None:
    """A number for the value of a variable, and its norm, zero only where it is all zeros; None: it cannot be had."""
    variable: Any = None if entry.reference is None else entry.reference()
    if variable is None:
        return None
    try:
        with compat.eager_scope():
            value = array_of(variable.read_value())
        mark = zlib.crc32(value.tobytes() if value.nbytes < 64 else memoryview(value).cast("B"))
        return mark, _norm(value.reshape(-1)) or float(value.any())
    except Exception:  # not initialised yet, on a device that is gone, of a dtype without bytes
        return None


def _norm(flat: Any) -> float:
    """In double precision, piece by piece: a copy of a large table would be larger than the table."""
    pieces = (flat[start : start + _PIECE].astype(np.float64) for start in range(0, flat.size, _PIECE))
    return math.sqrt(sum(float(wide @ wide) for wide in pieces))
