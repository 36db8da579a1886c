"""Which estimator to take, and why, in words the numbers bear out."""

from __future__ import annotations

import math
from collections.abc import Sequence

from whygrad.training.sampling.comparison.result import Row

# Errors closer than this many standard errors count as equal.
_APART = 3.0
_ORDER = {"no": 0, "unseen": 1, "yes": 2}
_WORDS = {"no": "it is unbiased", "unseen": "no bias could be seen", "yes": "its bias is clear"}


def recommend(rows: Sequence[Row], budget: float) -> tuple[str | None, str]:
    """The smallest error at the budget; among equals an unbiased estimator, then the one that asks less of the loss."""
    usable = [row for row in rows if row.trouble is None]
    if not usable:
        return None, "no estimator gave a usable gradient"
    smallest = min(usable, key=lambda row: row.error.value)
    equals = [row for row in usable if _is_close(row, smallest)]
    chosen = min(equals, key=lambda row: (_ORDER[row.biased], row.evaluations, row.error.value))
    return chosen.name, "; ".join([_why(chosen, smallest, usable), *_caveats(chosen, usable, budget)])


def _is_close(row: Row, smallest: Row) -> bool:
    gap = row.error.value - smallest.error.value
    return gap <= _APART * math.hypot(row.error.error, smallest.error.error)


def _why(chosen: Row, smallest: Row, usable: Sequence[Row]) -> str:
    others = [row for row in usable if row is not chosen]
    bias = _WORDS[chosen.biased]
    if not others:
        return f"it is the only one with a usable gradient, and {bias}"
    if chosen is not smallest:
        return f"its error cannot be told from the smallest, that of {smallest.name}, and {bias}"
    nearest = min(others, key=lambda row: row.error.value)
    error = chosen.error.value
    times = f"{nearest.error.value / error:.2g}" if error > 0.0 else "more than 1000"
    return f"it has the smallest error ({nearest.name} has {times} times it), and {bias}"


def _caveats(chosen: Row, usable: Sequence[Row], budget: float) -> list[str]:
    """With enough evaluations an unbiased estimator overtakes a biased one: say from where on."""
    if chosen.biased != "yes":
        return []
    unbiased = [row for row in usable if row.biased == "no"]
    if not unbiased:
        return []
    rival = min(unbiased, key=lambda row: row.spread.value**2 * row.evaluations)
    gap = rival.spread.value**2 * rival.evaluations - chosen.spread.value**2 * chosen.evaluations
    crossing = max(gap / chosen.bias.value**2, budget)
    return [f"from about {_rounded(crossing)} evaluations a step on, {rival.name}, which is unbiased, does better"]


def _rounded(number: float) -> str:
    """Two significant digits."""
    digits = max(0, math.floor(math.log10(number)) - 1)
    return f"{round(number, -digits):.0f}"
