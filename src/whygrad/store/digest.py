"""A few numbers of each variable over a whole block: enough to draw a long run without reading it."""

from __future__ import annotations

from typing import Final

import numpy as np

from whygrad.graph.series import CHANNELS
from whygrad.store.block import sealed, unsealed
from whygrad.store.rows import Array

COLUMNS: Final = ("lowest", "highest", "nonfinite")  # of the gradient's norm; the steps at which it was not finite
_NORM, _NONFINITE = CHANNELS.index("norm"), CHANNELS.index("nonfinite")


def encode(values: Array) -> bytes:
    """[steps, variables, channels] -> what `decode` reads; NaN where a variable had no finite norm."""
    norms = values[:, :, _NORM].astype(np.float64)
    known = np.isfinite(norms)
    lowest = np.min(norms, 0, initial=np.inf, where=known)
    highest = np.max(norms, 0, initial=-np.inf, where=known)
    found = np.stack([lowest, highest, (values[:, :, _NONFINITE] > 0).sum(0)], 1)
    found[~known.any(0), :2] = np.nan
    return sealed(found.astype("<f4").tobytes())


def decode(data: bytes, variables: int) -> Array:
    """[variables, COLUMNS]."""
    return np.frombuffer(unsealed(data), "<f4").reshape(variables, len(COLUMNS))
