"""A run at a glance: what each variable did, in a few numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whygrad.graph.series import VariableSeries
from whygrad.store.reader import Run
from whygrad.store.rows import Array


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
    zeros: float  # share of elements that are exactly zero, on average
    nonfinite_steps: int
    update_ratio: float  # update norm / weight norm, the median of the steps at which both were taken
    clipped: float  # norm after clipping / norm before, the median
    trend: tuple[float, ...]  # norms at evenly spaced steps


def overview(run: Run, blocks: int | None = None) -> list[VariableOverview]:
    """Every variable of a run; of a long run from so many evenly spread stretches only."""
    return [overview_of(run.series(info.name, track, blocks)) for track, info in run.variables()]


def overview_of(series: VariableSeries, points: int = 12) -> VariableOverview:
    norm = series.channels["norm"].astype(np.float64)
    finite = norm[np.isfinite(norm)]
    places = np.linspace(0, max(0, len(finite) - 1), min(points, len(finite))).astype(int)
    return VariableOverview(
        name=series.name,
        track=series.track,
        shape=series.info.shape,
        missing=series.info.missing,
        steps=len(norm),
        first=float(finite[0]) if len(finite) else np.nan,
        last=float(norm[-1]) if len(norm) else np.nan,
        median=_median(finite),
        largest=float(finite.max()) if len(finite) else np.nan,
        zeros=_mean(series.channels["zeros"] / max(1, series.info.size)),
        nonfinite_steps=int(np.nansum(series.channels["nonfinite"] > 0)),
        update_ratio=_ratio(series.channels["update_norm"], series.channels["weight_norm"]),
        clipped=_ratio(series.channels["applied_norm"], series.channels["norm"]),
        trend=tuple(float(finite[i]) for i in places),
    )


def _median(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else np.nan


def _mean(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else np.nan


def _ratio(above: Array, below: Array) -> float:
    known = np.isfinite(above) & np.isfinite(below) & (below > 0)
    return float(np.median(above[known] / below[known])) if known.any() else np.nan
