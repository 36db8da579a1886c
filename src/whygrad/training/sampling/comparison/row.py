"""One row of the table, from the gradients one estimator gave."""

from __future__ import annotations

import math

import numpy as np

from whygrad.training.sampling.comparison.gradients import Estimates
from whygrad.training.sampling.comparison.result import Bias, Interval, Row
from whygrad.training.sampling.comparison.statistics import Moments, Reference, moments

# A squared bias of this many times its noise is clear: with one parameter, by chance once in ten thousand times.
_CLEAR = 10.0
# A relative bias below this is float32 rounding.
_ROUNDING = 1e-4


def row(name: str, unbiased: bool, found: Estimates, truth: Reference, length: float, budget: float) -> Row:
    """Sizes in units of `length`, and the error at the budget."""
    trouble = _trouble(found)
    if trouble is not None:
        nothing = Interval(math.nan, math.nan)
        return Row(
            name=name,
            evaluations=found.evaluations,
            bias=nothing,
            spread=nothing,
            error=nothing,
            cosine=math.nan,
            biased="unseen",
            trouble=trouble,
        )
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
