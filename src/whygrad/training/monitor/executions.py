"""When each batch was trained: `fit` knows only how long several of them took together."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class Executions:
    """The calls of a training function, each of several batches."""

    def __init__(self) -> None:
        self._calls: list[tuple[int, int, float, float]] = []  # first batch, batches, when, how long
        self._lock = threading.Lock()
        self.batches = 0  # that are done

    def add(self, batches: int, when: float, seconds: float) -> None:
        with self._lock:
            self._calls.append((self.batches, batches, when, seconds))
            self.batches += batches

    def correct(self, batches: int) -> None:
        """The count of batches, as the graph has it: the last call of an epoch may have had fewer than the others."""
        with self._lock:
            if self._calls and batches != self.batches:
                first, _, when, seconds = self._calls[-1]
                self._calls[-1] = (first, max(1, batches - first), when, seconds)
            self.batches = batches

    def at(self, numbers: Array) -> Array:
        """[k, 3]: time, duration and number of these batches; NaN where they are not known."""
        result = np.full((len(numbers), 3), np.nan)
        result[:, 2] = numbers
        with self._lock:
            calls = list(self._calls)
        if calls and len(numbers):
            first, count, when, seconds = (np.array(column) for column in zip(*calls, strict=True))
            place = np.clip(np.searchsorted(first, numbers, side="right") - 1, 0, None)
            inside = (numbers >= first[place]) & (numbers < first[place] + count[place])
            share = seconds[place] / count[place]
            ended = when[place] + share * (numbers - first[place] + 1)
            result[inside, 0], result[inside, 1] = ended[inside], share[inside]
        return result

    def forget(self, before: int) -> None:
        """Drop what no row will ask for any more."""
        with self._lock:
            self._calls = [call for call in self._calls if call[0] + call[1] > before]
