"""What a comparison found, and how it prints."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from whygrad.report.cells import aligned

Bias = Literal["no", "unseen", "yes"]  # no: known from theory; unseen: the measurement could not tell it from none


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
    rows: tuple[Row, ...]
    recommended: str | None  # None: no estimator gave a usable gradient
    reason: str
    samples: int
    budget: float  # evaluations of the loss in one training step
    reference: str  # what the gradients were compared with
    relative: bool  # sizes are relative to the reference gradient

    def __getitem__(self, name: str) -> Row:
        return next(row for row in self.rows if row.name == name)

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
