"""How far the mean of n bounded draws may lie from its expectation, with a false-alarm rate that is proved.

The empirical Bernstein bound (Maurer and Pontil, 2009, theorem 4) holds for every n and every bounded distribution;
nothing is assumed normal. Each element of each gradient that is checked gets FALSE_ALARM; the whole suite checks fewer
than MOST_CHECKS elements, so a run on correct code fails with a probability below their product, 1e-6. The seeds
are fixed, so in practice a run fails always or never.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

FALSE_ALARM = 1e-9
MOST_CHECKS = 1000


def allowed(draws: Array, width: float) -> Array:
    """The largest distance of the mean over axis 0 from its expectation, for draws from an interval of this width."""
    n = len(draws)
    log = math.log(4.0 / FALSE_ALARM)
    return np.sqrt(2.0 * draws.var(0, ddof=1) * log / n) + 7.0 * width * log / (3.0 * (n - 1))


def excess(draws: Array, truth: Array, width: float) -> float:
    """How many times the allowed distance the worst element lies away: above 1 the mean is not the truth."""
    draws = np.asarray(draws, np.float64)
    assert np.abs(draws).max() < width / 2.0, "the width does not cover the draws"
    return float((np.abs(draws.mean(0) - truth) / allowed(draws, width)).max())
