"""How the elements of one variable are spread, at some of the steps at which that was recorded."""

from __future__ import annotations

from typing import Any

from whygrad.graph.histogram import KINDS, NONFINITE, SAMPLE, buckets_of
from whygrad.store import Run
from whygrad.store.rows import Array
from whygrad.web.thinning import numbers


def histograms_view(run: Run, name: str, track: str | None, most: int) -> dict[str, Any]:
    """By kind, one for each step: `buckets` of (from, to, elements) in ascending order, and what is not finite."""
    found = run.histograms(name, track, most)
    return {
        "name": name,
        "track": found.track,
        "size": found.size,
        "counted": min(found.size, SAMPLE),
        "steps": found.steps.tolist(),
        "kinds": {kind: [_histogram(values[place]) for values in found.values] for place, kind in enumerate(KINDS)},
    }


def _histogram(row: Array) -> dict[str, Any]:
    buckets = buckets_of(row)
    flat = numbers([value for bucket in buckets for value in bucket])
    return {
        "buckets": [flat[i : i + 3] for i in range(0, len(flat), 3)],
        "nonfinite": numbers(row[NONFINITE : NONFINITE + 1])[0],
    }
