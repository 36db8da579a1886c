"""Rows that wait to be written: never more than so many bytes, whatever the disk does."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import numpy as np

from whygrad.store.rows import Rows, Track, joined


class Backlog:
    """Filled by the training, emptied by the writer; thinned out where the writer cannot keep up."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.thinned = 0  # steps that were dropped since the start
        self._waiting: list[tuple[int, Rows]] = []
        self._tracks: dict[int, Track] = {}
        self._bytes = 0
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        return self._bytes

    def add(self, number: int, track: Track, rows: Rows) -> None:
        """Never waits and never fails."""
        with self._lock:
            self._tracks[number] = track
            self._waiting.append((number, rows))
            self._bytes += rows.nbytes
            self._thin()

    def take(self) -> list[tuple[int, Rows]]:
        """All that waits, one entry for each track."""
        with self._lock:
            taken = self._joined()
            self._waiting, self._bytes = [], 0
            return list(taken.items())

    def put_back(self, taken: list[tuple[int, Rows]]) -> None:
        """What could not be written waits again, before what came since."""
        with self._lock:
            self._waiting = [*taken, *self._waiting]
            self._bytes = sum(rows.nbytes for _, rows in self._waiting)
            self._thin()

    def _thin(self) -> None:
        """Drop half of the waiting rows, evenly over the steps, until there is room; the newest of a track stays."""
        while self._bytes > self.limit:
            before = self._joined()
            after = {number: _half(rows) for number, rows in before.items()}
            dropped = sum(len(rows) for rows in before.values()) - sum(len(rows) for rows in after.values())
            self._waiting = list(after.items())
            self._bytes = sum(rows.nbytes for rows in after.values())
            self.thinned += dropped
            if not dropped:
                return

    def _joined(self) -> Mapping[int, Rows]:
        parts: dict[int, list[Rows]] = {}
        for number, rows in self._waiting:
            parts.setdefault(number, []).append(rows)
        return {number: joined(self._tracks[number], each) for number, each in parts.items()}


def _half(rows: Rows) -> Rows:
    """Half of the rows, as evenly spaced as there are any; what was thinned before is not thinned twice as much."""
    wanted = np.linspace(rows.steps[0], rows.steps[-1], (len(rows) + 1) // 2) if len(rows) > 2 else rows.steps[-1:]
    return rows.pick(np.unique(np.searchsorted(rows.steps, wanted)))
