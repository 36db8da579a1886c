"""The slow, obvious twin of `statistics.py`: NumPy, float64, one gradient at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Twin:
    size: int
    sum: complex
    norm: float
    minimum: float
    maximum: float
    zeros: int
    nonfinite: int
    slack: float  # how far off a float32 sum of these numbers may be


def twin_of(array: np.ndarray) -> Twin:
    """Of complex numbers the extremes are those of the magnitudes."""
    is_complex = np.iscomplexobj(array)
    wide = np.asarray(array, np.complex128 if is_complex else np.float64).ravel()
    size = np.abs(wide) if is_complex else wide
    with np.errstate(all="ignore"):
        return Twin(
            size=wide.size,
            sum=wide.sum(),
            norm=float(np.sqrt(np.sum(np.square(size / _peak(size)))) * _peak(size)),
            minimum=size.min() if wide.size else np.nan,
            maximum=size.max() if wide.size else np.nan,
            zeros=int(np.count_nonzero(wide == 0)),
            nonfinite=int(np.count_nonzero(~np.isfinite(wide))),
            slack=float(np.abs(wide[np.isfinite(wide)]).sum()) * (1e-6 if array.dtype.itemsize <= 8 else 1e-14),
        )


def _peak(size: np.ndarray) -> float:
    """What to divide by before squaring, so that float64 does not overflow either."""
    peak = np.max(np.abs(size), initial=0.0)
    return float(peak) if np.isfinite(peak) and peak > 0 else 1.0


def densified(values: np.ndarray, rows: list[int], height: int) -> np.ndarray:
    """Slices written out as the gradient they stand for."""
    dense = np.zeros((height, *values.shape[1:]), np.complex128 if np.iscomplexobj(values) else np.float64)
    for row, value in zip(rows, values, strict=True):
        dense[row] += value
    return dense
