"""Curves over the steps, counted from 1: of a track, of one variable, of several runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from whygrad.report.page.models import findings
from whygrad.report.page.why import Confined
from whygrad.report.remarks import place
from whygrad.store import Run
from whygrad.store.comparison import compare
from whygrad.store.overview import overview_of
from whygrad.web.library import Library
from whygrad.web.thinning import numbers, thinned

_CHANNELS: Final = ("norm", "applied_norm", "sum", "minimum", "maximum", "weight_norm", "update_norm")
_HIDDEN: Final = ("time", "batch")  # scalars that are no measurement
_MOST_STEPS: Final = 1000  # bad ones that are listed
_MOST_COMPARED: Final = 8


def scalars_view(run: Run, track: str, points: int) -> dict[str, Any]:
    """Loss, metrics, learning rate and duration."""
    found = run.scalars(track)
    return {
        "track": track,
        "scalars": {
            name: thinned(found.steps + 1, values, points)
            for name, values in found.scalars.items()
            if name not in _HIDDEN and np.isfinite(values).any()
        },
    }


def variable_view(library: Library, run: Run, name: str, track: str | None, points: int) -> dict[str, Any]:
    """All that is known of one variable."""
    series = run.series(name, track)
    steps, channels = series.steps + 1, series.channels
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = channels["update_norm"] / channels["weight_norm"]
    zeros = channels["zeros"] / max(1, series.info.size)
    curves = {key: channels[key] for key in _CHANNELS} | {"update_ratio": ratio, "zero_share": zeros}
    glance = overview_of(series)
    bad = steps[channels["nonfinite"] > 0]
    recording, ledger = library.recording(run), run.ledger()
    sources = Confined({} if recording is None else recording.sources)
    about = [each for each in run.diagnostics() if name in each.variables or f"`{name}`" in each.message]
    return {
        "name": name,
        "track": series.track,
        "layer": series.info.layer,
        "shape": list(series.info.shape),
        "dtype": series.info.dtype,
        "missing": series.info.missing,
        "silent_units": series.dead_units,
        "units": series.units,
        "steps": len(steps),
        "glance": _by_name(
            median=glance.median,
            largest=glance.largest,
            last=glance.last,
            update_ratio=glance.update_ratio,
            zeros=glance.zeros,
        ),
        "curves": {key: thinned(steps, values, points) for key, values in curves.items() if np.isfinite(values).any()},
        "nonfinite_steps": bad[:_MOST_STEPS].tolist(),
        "nonfinite_count": len(bad),
        "findings": findings(about, sources),
        "writers": [] if ledger is None else _writers(ledger, name),
        "ways": _ways(library, run, name),
    }


def _by_name(**values: float) -> dict[str, float | None]:
    return dict(zip(values, numbers(list(values.values())), strict=True))


def _writers(ledger: Any, name: str) -> list[dict[str, Any]]:
    return [
        {
            "kind": write.kind.value,
            "writer": write.writer,
            "method": write.method,
            "place": None if write.where is None else place(write.where),
            "count": write.count,
        }
        for write in ledger.of(name)
        if ledger.name_of(write) == name
    ]


def _ways(library: Library, run: Run, name: str) -> list[dict[str, int]]:
    ways = library.ways(run)
    return [
        {"request": request["request"], "source": source["source"]}
        for request in ([] if ways is None else ways.requests())
        for source in request["sources"]
        if source["name"] == name
    ]


def compare_view(library: Library, ids: Sequence[str], points: int) -> dict[str, Any]:
    """The losses of some runs, and at which step each of them parts from the first."""
    runs = [library.run(each) for each in ids[:_MOST_COMPARED]]
    curves = {}
    for run in runs:
        track = next(iter(run.tracks()), None)
        loss = None if track is None else run.scalars(track.name)
        if loss is not None and "loss" in loss.scalars:
            curves[run.id] = thinned(loss.steps + 1, loss.scalars["loss"], points)
    return {
        "runs": [run.id for run in runs],
        "names": {run.id: str(run.facts().get("name", "")) for run in runs},
        "loss": curves,
        "pairs": [_pair(runs[0], other) for other in runs[1:]],
    }


def _pair(left: Run, right: Run) -> dict[str, Any]:
    found = compare(left, right)
    entries = [
        {
            "name": entry.name,
            "step": None if entry.step is None else entry.step + 1,
            "channel": entry.channel,
            "steps": entry.steps,
            **_by_name(left=entry.left, right=entry.right, ratio=entry.last_ratio),
        }
        for entry in found.entries
    ]
    return {
        "left": left.id,
        "right": right.id,
        "entries": entries,
        "only_left": list(found.only_left),
        "only_right": list(found.only_right),
    }
