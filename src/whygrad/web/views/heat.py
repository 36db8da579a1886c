"""Gradient flow: the norm of every variable over the steps, counted from 1, as few columns as a screen has room for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from whygrad.graph.series import CHANNELS
from whygrad.store import Rows, Run, Track
from whygrad.store.rows import Array
from whygrad.web.thinning import numbers

_READ_WHOLE: Final = 1_000_000  # numbers, up to which every step is looked at; beyond it the digests of blocks are
_NORM, _NONFINITE = CHANNELS.index("norm"), CHANNELS.index("nonfinite")
Piece = tuple[int, int, Array, Array]  # first and last step, highest norm and steps that are not finite, by variable


def heat(run: Run, track: str, columns: int = 160) -> dict[str, Any]:
    """Columns of steps: the highest norm of each variable, and where it was zero, not finite or missing."""
    infos = [info for name, info in run.variables() if name == track]
    places = {info.name: row for row, info in enumerate(infos)}
    pieces = list(_pieces(run, track, places, columns))
    groups = [group for group in np.array_split(np.arange(len(pieces)), min(columns, len(pieces) or 1)) if len(group)]
    highest = np.full((len(infos), len(groups)), np.nan)
    bad = np.zeros((len(infos), len(groups)))
    for column, group in enumerate(groups):
        stacked = np.stack([pieces[i][2] for i in group])
        known = np.isfinite(stacked)
        top = np.max(stacked, 0, initial=-np.inf, where=known)
        highest[:, column] = np.where(known.any(0), top, np.nan)
        bad[:, column] = np.sum([pieces[i][3] for i in group], 0)
    return {
        "track": track,
        "columns": [[pieces[group[0]][0] + 1, pieces[group[-1]][1] + 1] for group in groups],
        "variables": [{"name": info.name, "layer": info.layer, "missing": info.missing} for info in infos],
        "norms": [numbers(row) for row in highest],
        "nonfinite": [row.astype(int).tolist() for row in bad],
        "total": numbers(np.where(np.isfinite(highest).any(0), np.sqrt(np.nansum(highest**2, 0)), np.nan)),
    }


def _pieces(run: Run, track: str, places: dict[str, int], columns: int) -> Iterator[Piece]:
    digests = run.digests(track)
    rows = sum(last - first + 1 for first, last, _, _ in digests)
    if digests and rows * max(1, len(places)) > _READ_WHOLE:
        for first, last, layout, found in digests:
            yield first, last, *_placed(layout, places, found[:, 1].astype(np.float64), found[:, 2])
        for layout, recent in run.recent(track):
            yield from _of_rows(layout, recent, places, 4)
        return
    every = list(run.rows(track))
    total = sum(len(part) for _, part in every)
    for layout, part in every:
        yield from _of_rows(layout, part, places, max(1, round(columns * len(part) / max(1, total))))


def _of_rows(layout: Track, rows: Rows, places: dict[str, int], most: int) -> Iterator[Piece]:
    for stretch in np.array_split(np.arange(len(rows)), min(most, len(rows)) or 1):
        if len(stretch):
            norms = rows.values[stretch][:, :, _NORM].astype(np.float64)
            known = np.isfinite(norms)
            top = np.where(known.any(0), np.max(norms, 0, initial=-np.inf, where=known), np.nan)
            bad = (rows.values[stretch][:, :, _NONFINITE] > 0).sum(0)
            yield int(rows.steps[stretch[0]]), int(rows.steps[stretch[-1]]), *_placed(layout, places, top, bad)


def _placed(layout: Track, places: dict[str, int], top: Array, bad: Array) -> tuple[Array, Array]:
    """Numbers of a layout's variables at the rows that these have in the picture."""
    rows = [places[info.name] for info in layout.variables]
    found, count = np.full(len(places), np.nan), np.zeros(len(places))
    found[rows], count[rows] = top, bad
    return found, count
