"""What an array of inputs, targets or predictions holds, by a look at a sample of its rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from whygrad.graph.learning import Values

Array = np.ndarray[Any, np.dtype[Any]]

_MOST_ROWS: Final = 4096
_MOST_FEATURES: Final = 4096
_MOST_NUMBERS: Final = 1 << 20  # of a sample
_MOST_COUNTED: Final = 1 << 16  # of which the different ones are counted
_LEVELS: Final = 32
_CLOSE: Final = 1e-6  # of the largest number: a feature that varies by less is constant up to rounding


def values_of(thing: Any, *, levels: bool = False) -> Values | None:
    """The facts of an array, of a list of numbers or of a table; None where it is nothing of the kind.

    `levels`: with how its numbers are spread, which takes sorting them.
    """
    try:
        array = np.asarray(thing)
    except Exception:  # ragged lists, things that refuse to be arrays
        return None
    if array.ndim == 0 or not array.size:
        return None
    known = Values(shape=tuple(array.shape), dtype=array.dtype.name if array.dtype.kind in "fiub" else array.dtype.kind)
    if array.dtype.kind == "V":  # bfloat16
        array = array.astype(np.float32)
    if array.dtype.kind not in "fiub":
        return known
    sample = _sample(array)
    return replace(_looked_at(known, sample), levels=_levels(sample) if levels else ())


def _levels(sample: Array) -> tuple[float, ...]:
    numbers = sample[np.isfinite(sample)]
    parts = np.array_split(np.sort(numbers[:: numbers.size // _MOST_COUNTED + 1]), _LEVELS)
    return tuple(float(part.mean()) for part in parts) if numbers.size >= _LEVELS else ()


def _sample(array: Array) -> Array:
    """Some rows, evenly spread, as `float64`."""
    across = max(1, array.size // len(array))
    wanted = max(1, min(_MOST_ROWS if across > 1 else _MOST_NUMBERS, _MOST_NUMBERS // across))
    return np.asarray(array[:: -(-len(array) // wanted)], np.float64)


def _looked_at(known: Values, sample: Array) -> Values:
    finite = np.isfinite(sample)
    numbers = sample[finite]
    if not numbers.size:
        return replace(known, rows=len(sample), nonfinite=sample.size)
    lines = sample.reshape(-1, sample.shape[-1] if sample.ndim > 1 else 1)[:_MOST_COUNTED]
    features = sample.reshape(len(sample), -1)[:, :_MOST_FEATURES]
    with np.errstate(all="ignore"):
        largest = np.abs(features).max(0)
        spread = features.max(0) - features.min(0)
        varies = spread > _CLOSE * np.maximum(largest, 1e-30)
        sums = lines.sum(1)
    binary = bool(np.isin(lines, (0.0, 1.0)).all())
    ones = lines.sum(1)
    return replace(
        known,
        rows=len(sample),
        minimum=float(numbers.min()),
        maximum=float(numbers.max()),
        mean=float(numbers.mean()),
        deviation=float(numbers.std()),
        whole=bool((numbers == np.round(numbers)).all()),
        distinct=len(np.unique(numbers[:_MOST_COUNTED])),
        nonfinite=int(sample.size - numbers.size),
        sums=(float(sums.min()), float(sums.max())),
        ones=(int(ones.min()), int(ones.max())) if binary else None,
        alike=len(sample) > 1 and bool(finite.all()) and not bool(varies.any()),
        constant=int((~varies).sum()) if len(sample) > 1 else 0,
        spread=float(np.nanmax(spread)) if np.isfinite(spread).any() else 0.0,
        scales=(float(largest[varies].min()), float(largest[varies].max())) if varies.any() else (0.0, 0.0),
    )


def joined(before: Values, now: Values) -> Values:
    """What is known of both samples of the same thing."""
    if not before.is_known or not now.is_known:
        return before if before.is_known else now
    both = None if before.ones is None or now.ones is None else (before.ones, now.ones)
    return replace(
        before,
        rows=before.rows + now.rows,
        levels=_joined_levels(before, now),
        minimum=min(before.minimum, now.minimum),
        maximum=max(before.maximum, now.maximum),
        whole=before.whole and now.whole,
        distinct=max(before.distinct, now.distinct),
        nonfinite=before.nonfinite + now.nonfinite,
        sums=(min(before.sums[0], now.sums[0]), max(before.sums[1], now.sums[1])),
        ones=None if both is None else (min(each[0] for each in both), max(each[1] for each in both)),
        alike=before.alike and now.alike,
        constant=min(before.constant, now.constant),
    )


def _joined_levels(before: Values, now: Values) -> tuple[float, ...]:
    if not before.levels or not now.levels:
        return before.levels or now.levels
    levels = np.array([*before.levels, *now.levels])
    shares = np.repeat((before.rows, now.rows), (len(before.levels), len(now.levels))).astype(np.float64)
    order = np.argsort(levels, kind="stable")
    below = np.cumsum(shares[order]) - shares[order] / 2
    at = (np.arange(_LEVELS) + 0.5) / _LEVELS * shares.sum()
    return tuple(float(each) for each in np.interp(at, below, levels[order]))
