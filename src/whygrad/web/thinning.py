"""Long series for a screen: few points, and none of the lowest and highest ones lost."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from whygrad.store.rows import Array


def kept(values: Array, points: int) -> Array:
    """The indices of at most about `points` numbers: first, last, and the lowest and highest of every stretch.

    A stretch without a finite number keeps its first index, so that a gap is seen as one.
    """
    if len(values) <= points:
        return np.arange(len(values))
    found = {0, len(values) - 1}
    for stretch in np.array_split(np.arange(len(values)), max(1, (points - 2) // 2)):
        known = stretch[np.isfinite(values[stretch])]
        if not len(known):
            found.add(int(stretch[0]))
            continue
        found.add(int(known[np.argmin(values[known])]))
        found.add(int(known[np.argmax(values[known])]))
    return np.array(sorted(found))


def numbers(values: Array | list[float]) -> list[float | None]:
    """For JSON: six digits, None for what is not finite."""
    return [float(f"{value:.6g}") if math.isfinite(value) else None for value in np.asarray(values).tolist()]


def thinned(steps: Array, values: Array, points: int) -> dict[str, list[Any]]:
    index = kept(values, points)
    return {"steps": steps[index].tolist(), "values": numbers(values[index])}
