"""Histograms in the store: all variables of a track at one step in one piece, from which one is read alone."""

from __future__ import annotations

import zlib
from typing import Final

import numpy as np

from whygrad.bounded import decompress
from whygrad.graph.histogram import KINDS, WIDTH
from whygrad.store.block import sealed, unsealed
from whygrad.store.rows import Array

_BYTES: Final = 4 * len(KINDS) * WIDTH


def encode(values: Array) -> bytes:
    """[variables, KINDS, WIDTH] -> what `decode` reads; nothing is kept of a variable without any."""
    pieces = [b"" if np.isnan(each).all() else zlib.compress(each.astype("<f4").tobytes(), 1) for each in values]
    return b"".join([np.array([len(piece) for piece in pieces], "<u4").tobytes(), *map(sealed, pieces)])


def decode(data: bytes, variables: int, index: int) -> Array:
    """[KINDS, WIDTH] of one variable."""
    lengths = np.frombuffer(data, "<u4", variables).astype(np.int64)
    start = 4 * variables + int(lengths[:index].sum()) + 4 * index
    piece = unsealed(data[start : start + 4 + int(lengths[index])])
    if not piece:
        return np.full((len(KINDS), WIDTH), np.nan, np.float32)
    return np.frombuffer(decompress(piece, _BYTES), "<f4").reshape(len(KINDS), WIDTH)
