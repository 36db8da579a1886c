"""Rows for the tests of the store: numbers that follow from the step, so that any one of them can be checked alone."""

from __future__ import annotations

import numpy as np

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
