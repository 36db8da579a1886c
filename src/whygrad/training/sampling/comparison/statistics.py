"""Bias and variance of gradient estimates, with error bars, and the row of the table that they make."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.training.sampling.comparison.gradients import Array, Estimates
from whygrad.training.sampling.comparison.result import Bias, Interval, Row

# A squared bias of this many times its noise is clear: with one parameter, by chance once in ten thousand times.
_CLEAR = 10.0
# A relative bias below this is float32 rounding.
_ROUNDING = 1e-4


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


def row(name: str, unbiased: bool, found: Estimates, truth: Reference, length: float, budget: float) -> Row:
    """Sizes in units of `length`, and the error at the budget."""
    trouble = _trouble(found)
    if trouble is not None:
        none = Interval(math.nan, math.nan)
        sizes: dict[str, Any] = {"bias": none, "spread": none, "error": none, "cosine": math.nan}
        return Row(name=name, evaluations=found.evaluations, biased="unseen", trouble=trouble, **sizes)
    m = moments(found.gradients, truth)
    share = found.evaluations / budget
    return Row(
        name=name,
        evaluations=found.evaluations,
        bias=_root(m.bias_squared, m.bias_squared_error, length),
        spread=_root(m.variance, m.variance_error, length),
        error=_root(
            max(m.bias_squared, 0.0) + m.variance * share,
            math.hypot(m.bias_squared_error, m.variance_error * share),
            length,
        ),
        cosine=m.cosine,
        biased=_bias(m, length, unbiased),
    )


def _bias(m: Moments, length: float, unbiased: bool) -> Bias:
    if unbiased:
        return "no"
    is_clear = m.bias_squared > _CLEAR * m.bias_noise and m.bias_squared > (_ROUNDING * length) ** 2
    return "yes" if is_clear else "unseen"


def _root(square: float, error: float, length: float) -> Interval:
    """The square root of a measured square, and how far one standard error more would move it."""
    root = math.sqrt(max(square, 0.0))
    return Interval(root / length, (math.sqrt(max(square, 0.0) + error) - root) / length)


def _trouble(found: Estimates) -> str | None:
    if found.unreached:
        return "no gradient: the path is cut"
    if not np.isfinite(found.gradients).all():
        return "not finite"
    return None
