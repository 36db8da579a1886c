"""Bias and variance of gradient estimates, with error bars. NumPy only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Reference:
    """The gradient to compare with. `spread`: its covariance is `spread.T @ spread`; no rows where it is exact."""

    gradient: Array
    spread: Array

    @property
    def is_exact(self) -> bool:
        return len(self.spread) == 0


def exact_reference(gradient: Array) -> Reference:
    return Reference(gradient, np.zeros((0, gradient.size)))


def estimated_reference(gradients: Array, blocks: int = 200) -> Reference:
    """The mean of many estimates; its uncertainty from the means of blocks of them."""
    means = np.stack([block.mean(0) for block in np.array_split(gradients, min(blocks, len(gradients)))])
    center = means.mean(0)
    return Reference(center, (means - center) / np.sqrt(len(means) * (len(means) - 1)))


def length(reference: Reference, estimates: Sequence[Array]) -> float:
    """How long the reference gradient is; 0 where it is no larger than rounding or its own noise."""
    square = float(np.square(reference.gradient).sum())
    typical = max(float(np.nan_to_num(np.square(e)).sum(1).mean()) for e in estimates)
    noise = float(np.square(reference.spread).sum())
    return float(np.sqrt(square)) if square > max(1e-12 * typical, 4.0 * noise) else 0.0


@dataclass(frozen=True, slots=True)
class Moments:
    """Squared bias and total variance of one estimate, each with its standard error."""

    bias_squared: float  # unbiased itself, so it may come out below zero
    bias_squared_error: float
    bias_noise: float  # the standard error `bias_squared` would have if there were no bias
    variance: float
    variance_error: float
    cosine: float  # between the mean estimate and the reference


def moments(gradients: Array, reference: Reference) -> Moments:
    n = len(gradients)
    mean = gradients.mean(0)
    centered = gradients - mean
    squares = np.square(centered).sum(1)
    factors = [centered / np.sqrt(n * (n - 1)), reference.spread]  # of the covariance of the difference below
    difference = mean - reference.gradient
    noise_squared = 2.0 * sum(_overlap(a, b) for a in factors for b in factors)
    slope = sum(float(np.square(factor @ difference).sum()) for factor in factors)
    return Moments(
        bias_squared=float(difference @ difference) - sum(float(np.square(f).sum()) for f in factors),
        bias_squared_error=float(np.sqrt(4.0 * slope + noise_squared)),
        bias_noise=float(np.sqrt(noise_squared)),
        variance=float(squares.sum() / (n - 1)),
        variance_error=float(squares.std() / np.sqrt(n)),
        cosine=_cosine(mean, reference.gradient),
    )


def _overlap(a: Array, b: Array) -> float:
    """The trace of (a.T @ a) @ (b.T @ b), by whichever product is smaller."""
    if a.shape[1] <= max(len(a), len(b)):
        return float(((a.T @ a) * (b.T @ b)).sum())
    return float(np.square(a @ b.T).sum())


def _cosine(a: Array, b: Array) -> float:
    length = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / length if length > 0.0 else float("nan")
