"""What a comparison found, how it prints, and which estimator to take, in words the numbers bear out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from whygrad.errors import UnknownNameError
from whygrad.report.cells import aligned

Bias = Literal["no", "unseen", "yes"]  # no: known from theory; unseen: the measurement could not tell it from none

# Errors closer than this many standard errors count as equal.
_APART = 3.0
_ORDER = {"no": 0, "unseen": 1, "yes": 2}
_WORDS = {"no": "it is unbiased", "unseen": "no bias could be seen", "yes": "its bias is clear"}


@dataclass(frozen=True, slots=True)
class Interval:
    """A measured value and its standard error."""

    value: float
    error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One estimator. Sizes are in units of the length of the reference gradient, unless that is zero."""

    name: str
    evaluations: float  # of the loss, for one estimate
    bias: Interval
    spread: Interval  # standard deviation of one estimate
    error: Interval  # root mean squared error at the comparison's budget
    cosine: float  # 1: on average the estimate points the right way
    biased: Bias
    trouble: str | None = None  # why it cannot be used at all


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What `compare` found: a row for each estimator, and the one to use. Print it."""

    rows: tuple[Row, ...]
    recommended: str | None  # None: no estimator gave a usable gradient
    reason: str
    samples: int
    budget: float  # evaluations of the loss in one training step
    reference: str  # what the gradients were compared with
    relative: bool  # sizes are relative to the reference gradient

    def __getitem__(self, name: str) -> Row:
        for row in self.rows:
            if row.name == name:
                return row
        raise UnknownNameError(name, (row.name for row in self.rows), "estimator")

    def __str__(self) -> str:
        table = aligned(_HEADER, (_cells(row, self) for row in self.rows), right=_HEADER[1:])
        unit = "% of its length" if self.relative else "absolute, as its length is 0"
        return "\n".join(
            [
                f"{self.samples} estimates each, against {self.reference} ({unit}); ± is one standard error;",
                f"error: root mean squared error with {self.budget:g} evaluations of the loss",
                "",
                table,
                "",
                f"recommended: {self.recommended or 'none'}: {self.reason}",
            ]
        )

    __repr__ = __str__


_HEADER = ("estimator", "evaluations", "biased", "bias", "spread", "error", "cosine")


def _cells(row: Row, comparison: Comparison) -> tuple[str, ...]:
    mark = " *" if row.name == comparison.recommended else ""
    if row.trouble is not None:
        return (row.name, "", "", "", "", "", row.trouble)
    sizes = (_size(interval, comparison.relative) for interval in (row.bias, row.spread, row.error))
    cosine = "" if math.isnan(row.cosine) else f"{row.cosine:.3f}"
    return (row.name + mark, f"{row.evaluations:g}", row.biased, *sizes, cosine)


def _size(interval: Interval, relative: bool) -> str:
    if relative:
        return f"{100 * interval.value:.1f} ± {100 * interval.error:.1f}"
    return f"{interval.value:.3g} ± {interval.error:.2g}"


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
        return f"its error cannot be distinguished from the smallest, that of {smallest.name}, and {bias}"
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
