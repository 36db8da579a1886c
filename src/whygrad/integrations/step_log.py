"""A run as loggers take it: at each step, numbers by name, and histograms as edges and counts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from whygrad.graph.histogram import KINDS, buckets_of, contiguous
from whygrad.graph.series import CHANNELS
from whygrad.store import Rows, Run, Track


@dataclass(frozen=True, slots=True)
class LoggedStep:
    """All that was taken at one step of one track."""

    step: int
    seconds: float  # when, since 1970; 0: not known
    numbers: list[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class LoggedHistogram:
    """One edge more than counts."""

    step: int
    name: str
    edges: list[float]
    counts: list[float]


def prefixes(run: Run) -> dict[str, str]:
    """What the names of a track begin with, by track: nothing where there is only one."""
    names = [track.name for track in run.tracks()]
    return {name: "" if len(names) == 1 else f"{name}/" for name in names}


def logged_steps(run: Run, track: str, prefix: str) -> Iterator[LoggedStep]:
    """Every step of a track."""
    for layout, rows in run.rows(track):
        yield from _of_rows(layout, rows, prefix)


def logged_histograms(run: Run, track: str, prefix: str) -> Iterator[LoggedHistogram]:
    """Those of gradients, weights and updates, one variable after another."""
    for info in (info for name, info in run.variables() if name == track):
        found = run.histograms(info.name, track)
        for step, values in zip(found.steps, found.values, strict=True):
            for kind, row in zip(KINDS, values, strict=True):
                edges, counts = contiguous(buckets_of(row))
                if counts:
                    yield LoggedHistogram(int(step), f"{prefix}histograms/{kind}/{info.name}", edges, counts)


def _of_rows(track: Track, rows: Rows, prefix: str) -> Iterator[LoggedStep]:
    names = list(track.scalars)
    clock = names.index("time") if "time" in names else None
    tags = [[f"{prefix}{channel}/{info.name}" for channel in CHANNELS] for info in track.variables]
    for i, step in enumerate(rows.steps):
        numbers = [
            (f"{prefix}{name}", float(rows.scalars[i, s]))
            for s, name in enumerate(names)
            if name not in ("time", "batch") and not math.isnan(rows.scalars[i, s])
        ]
        numbers += [
            (tags[v][c], float(rows.values[i, v, c]))
            for v in range(len(tags))
            for c in range(len(CHANNELS))
            if _is_taken(rows.values[i, v], c)
        ]
        when = float(rows.scalars[i, clock]) if clock is not None else math.nan
        yield LoggedStep(int(step), 0.0 if math.isnan(when) else when, numbers)


def _is_taken(channels: Any, c: int) -> bool:
    """NaN is a number that was taken only where the gradient itself was not finite."""
    return not math.isnan(channels[c]) or (CHANNELS[c] in ("sum", "norm") and channels[CHANNELS.index("nonfinite")] > 0)
