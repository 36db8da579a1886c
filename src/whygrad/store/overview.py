"""A run at a glance: what each variable did, in a few numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.graph.series import VariableSeries
from whygrad.store.reader import Run
from whygrad.store.rows import Array

_POINTS = 12  # of a trend


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableOverview:
    """One variable of a run. NaN: never taken."""

    name: str
    track: str
    shape: tuple[int, ...]
    missing: bool
    steps: int  # that were looked at
    first: float  # norm of the gradient
    last: float
    median: float
    largest: float
    last_sum: float  # of all elements of the gradient
    zeros: float  # share of elements that are exactly zero, on average
    nonfinite_steps: int
    update_ratio: float  # update norm / weight norm, the median of the steps at which both were taken
    clipped: float  # norm after clipping / norm before, the median
    trend: tuple[float, ...]  # norms at evenly spaced steps


def overview(run: Run, blocks: int | None = None) -> list[VariableOverview]:
    """Every variable of a run; of a long run from so many evenly spread stretches only."""
    return [overview_of(run.series(info.name, track, blocks)) for track, info in run.variables()]


def overview_of(series: VariableSeries) -> VariableOverview:
    norm = series.channels["norm"].astype(np.float64)
    finite = norm[np.isfinite(norm)]
    places = np.linspace(0, max(0, len(finite) - 1), min(_POINTS, len(finite))).astype(int)
    return VariableOverview(
        name=series.name,
        track=series.track,
        shape=series.info.shape,
        missing=series.info.missing,
        steps=len(norm),
        first=float(finite[0]) if len(finite) else np.nan,
        last=float(norm[-1]) if len(norm) else np.nan,
        median=_of_known(finite, np.median),
        largest=_of_known(finite, np.max),
        last_sum=float(series.channels["sum"][-1]) if len(norm) else np.nan,
        zeros=_of_known(series.channels["zeros"] / max(1, series.info.size), np.mean),
        nonfinite_steps=int(np.nansum(series.channels["nonfinite"] > 0)),
        update_ratio=_ratio(series.channels["update_norm"], series.channels["weight_norm"]),
        clipped=_ratio(series.channels["applied_norm"], series.channels["norm"]),
        trend=tuple(float(finite[i]) for i in places),
    )


def _of_known(values: Array, fold: Callable[[Array], Any]) -> float:
    known = values[np.isfinite(values)]
    return float(fold(known)) if len(known) else np.nan


def _ratio(above: Array, below: Array) -> float:
    known = np.isfinite(above) & np.isfinite(below) & (below > 0)
    return _of_known(above[known] / below[known], np.median)
