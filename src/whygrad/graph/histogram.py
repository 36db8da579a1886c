"""How the elements of a gradient, a weight or an update are spread: counts by sign and magnitude.

Bins end at powers of the square root of two, so those of any two histograms fit on one another, and cover a
factor of a million. A histogram is a row of `WIDTH` numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

KINDS: Final = ("gradient", "weight", "update")  # the weight after the update; the update as it was added
LEVELS: Final = 40  # bins of one sign, from the largest element down; the last one holds all that is smaller
ZERO: Final = 1 + LEVELS  # place of the elements that are exactly zero
NONFINITE: Final = 2 + 2 * LEVELS
WIDTH: Final = 3 + 2 * LEVELS  # the level of the largest, negative counts, zeros, positive counts, not finite
_HIGHEST: Final = 2100  # level of any number, with some to spare
SAMPLE: Final = 8192  # elements of one tensor that are counted; of a larger one, so many that are evenly spaced

Array = np.ndarray[Any, np.dtype[Any]]
Bucket = tuple[float, float, float]  # from, to, how many elements


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VariableHistograms:
    """The histograms of one variable at some steps: [step, `KINDS`, `WIDTH`]; NaN where one was not taken."""

    name: str
    track: str
    size: int
    steps: Array
    values: Array


def buckets_of(row: Array) -> list[Bucket]:
    """The bins of one histogram that hold something, in ascending order."""
    top = float(row[0])
    if not abs(top) < _HIGHEST:  # also where it was not taken
        return []
    found: list[Bucket] = []
    for place in np.flatnonzero(row[1:NONFINITE]) + 1:
        count, above = float(row[place]), abs(int(place) - ZERO)  # 1: the smallest
        if place == ZERO:
            found.append((0.0, 0.0, count))
            continue
        high = 2.0 ** ((top - LEVELS + above + 1) / 2)
        low = 0.0 if above == 1 else 2.0 ** ((top - LEVELS + above) / 2)
        found.append((-high, -low, count) if place < ZERO else (low, high, count))
    return found


def contiguous(buckets: Sequence[Bucket]) -> tuple[list[float], list[float]]:
    """(edges, counts), as other programs draw histograms: one edge more than counts, and zeros in a narrow bin."""
    sizes = [abs(end) for low, high, _ in buckets for end in (low, high) if end]
    narrow = min(sizes, default=1e-9) / 1e3
    edges: list[float] = []
    counts: list[float] = []
    for low, high, count in buckets:
        left, right = (low or (narrow if high > 0 else -narrow)), (high or (-narrow if low < 0 else narrow))
        if not edges:
            edges.append(left)
        elif left > edges[-1]:
            edges.append(left)
            counts.append(0.0)
        edges.append(right)
        counts.append(count)
    return edges, counts
