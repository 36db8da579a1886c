"""Rows for the tests of the store: numbers that follow from the step, so that any one of them can be checked alone."""

from __future__ import annotations

import numpy as np

from whygrad.graph.histogram import LEVELS, NONFINITE, WIDTH, ZERO
from whygrad.graph.series import CHANNELS, VariableInfo
from whygrad.store import Rows, Track


def track(variables: int = 3, name: str = "adam", dtype: str = "float32") -> Track:
    infos = tuple(
        VariableInfo(name=f"layer_{i}/kernel", shape=(4, i + 1), layer=f"layer_{i}") for i in range(variables)
    )
    return Track(name=name, variables=infos, scalars=("loss", "learning_rate"), dtype=dtype)


def rows(of: Track, steps: np.ndarray | range) -> Rows:
    """The rows of some steps; the same step always has the same numbers."""
    index = np.asarray(steps, np.int64)
    loss = np.exp(-index / 1000.0)
    scalars = np.stack([loss, np.full(len(index), 1e-3)], 1)
    v = np.arange(len(of.variables))[:, np.newaxis]
    c = np.arange(len(CHANNELS))
    values = np.sin(index[:, np.newaxis, np.newaxis] * (v + 1) * 0.37 + c).astype(of.dtype)
    values[:, :, 4:6] = 0  # zeros and non-finite elements: hardly ever any
    return Rows(index, scalars, values)


def same(found: Rows, expected: Rows) -> bool:
    return all(
        getattr(found, name).tobytes() == np.ascontiguousarray(getattr(expected, name)).tobytes()
        for name in ("steps", "scalars", "values")
    )


def histogram_of(values: np.ndarray) -> np.ndarray:
    """The row of a histogram, by comparing each element with the edges."""
    row = np.zeros(WIDTH)
    values = np.asarray(values, np.float64).ravel()
    finite = values[np.isfinite(values)]
    row[NONFINITE] = len(values) - len(finite)
    row[ZERO] = np.sum(finite == 0)
    rest = finite[finite != 0]
    if len(rest):
        edges = 2.0 ** (np.arange(-2100, 2048) / 2)
        levels = np.searchsorted(edges, np.abs(rest), side="right") - 1 - 2100
        row[0] = levels.max()
        below = np.minimum(levels.max() - levels, LEVELS - 1)
        np.add.at(row, 1 + np.where(rest < 0, below, 2 * LEVELS - below), 1)
    return row


def spread(of: Track, step: int) -> np.ndarray:
    """Histograms of all variables of a track: gradients that shrink, weights that grow wider."""
    rng = np.random.default_rng(step)
    drawn = [[rng.normal(0, size, 500) for size in (1e-3 / (1 + step), 0.1 + step / 1e3, 1e-5)] for _ in of.variables]
    return np.array([[histogram_of(values) for values in kinds] for kinds in drawn], np.float32)
