"""Runs, and one run: what became of it, what was found, what it consists of."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from whygrad.graph.nonfinite import Nonfinite
from whygrad.report.json import plain
from whygrad.report.page.models import report_view
from whygrad.report.page.why import Confined
from whygrad.report.report_data import ReportData
from whygrad.source import shown_file
from whygrad.store import Run, RunHeader, RunUnreadableError, header_of
from whygrad.web.library import Library, report_of
from whygrad.web.views.heat import heat

_TREND: Final = 32  # points of the small curve in the list


def runs_view(library: Library) -> dict[str, Any]:
    """All runs, newest first; one that cannot be read is there with the reason, and hides no other."""
    entries = [library.kept(run, "entry", partial(_entry, run)) for run in library.runs()]
    fresh = [_running(library, entry) for entry in entries]
    return {
        "folders": [str(place) for place in library.places],
        "changeable": library.changeable,
        "runs": sorted(fresh, key=lambda entry: (-entry["started"], entry["id"])),
    }


def _running(library: Library, entry: dict[str, Any]) -> dict[str, Any]:
    """A run that was running may have been killed since, which its file does not say."""
    return entry if entry["status"] != "running" else {**entry, **_header(header_of(library.run(entry["id"])))}


def _entry(run: Run) -> dict[str, Any]:
    header = header_of(run)
    entry = {**_header(header), "problem": header.problem, "loss": None, "findings": {}, "trend": [], "tags": []}
    if header.problem is not None:
        return entry
    try:
        facts = run.facts()
        tracks = run.tracks()
        levels = [each.severity.label for each in run.diagnostics()]
        if tracks:
            entry["loss"] = _last(run, tracks[0].name, "loss")
            entry["trend"] = heat(run, tracks[0].name, _TREND)["total"]
        entry["findings"] = {level: levels.count(level) for level in ("error", "warning", "note") if level in levels}
        return entry | {"script": _script(facts), "tags": _tags(facts), "note": str(facts.get("note", ""))}
    except RunUnreadableError as error:
        return entry | {"problem": error.message, "status": "unreadable"}


def _header(header: RunHeader) -> dict[str, Any]:
    return {
        "id": header.id,
        "name": header.title,
        "status": header.status,
        "started": header.started,
        "seconds": header.seconds,
        "steps": None if header.last_step is None else header.last_step + 1,
    }


def run_view(library: Library, run: Run) -> dict[str, Any]:
    """One run without its curves, which are asked for apart."""
    header, facts = header_of(run), run.facts()
    recording, told = library.recording(run), report_of(run)
    place = facts.get("environment", {})
    variables = run.variables()
    counted = {"steps": (header.last_step or -1) + 1, "variables": len(variables)}
    report = ReportData(
        diagnostics=tuple(sorted(run.diagnostics(), key=lambda each: -each.severity)),
        run=told.get("run") or counted,
        sources=Confined({} if recording is None else recording.sources),
    )
    view = report_view(replace(report, gradients=()))
    running = " so far" if header.status == "running" else ""
    return {
        **_header(header),
        **view,
        "verdict": view["verdict"] + running,
        "reach": told.get("gradients", []),
        "script": _script(facts),
        "arguments": [str(each) for each in place.get("argv", [])],
        "failure": facts.get("failure"),
        "packages": place.get("packages", {}),
        "python": str(place.get("python", "")),
        "commit": place.get("commit"),
        "tags": _tags(facts),
        "note": str(facts.get("note", "")),
        "left_out": header.thinned + int(facts.get("overwritten", 0)),
        "tracks": [{"name": track.name, "scalars": list(track.scalars)} for track in run.tracks()],
        "variables": [
            {"name": info.name, "track": track, "shape": list(info.shape), "layer": info.layer, "missing": info.missing}
            for track, info in variables
        ],
        "epochs": [{"step": event.step, **event.data} for event in run.events("epoch")],
        "has_why": recording is not None and bool(recording.requests),
        "has_nan": recording is not None and any(isinstance(event, Nonfinite) for event in recording.events),
        "damage": list(run.damage),
    }


def _last(run: Run, track: str, scalar: str) -> Any:
    """The newest value; as a word where it is not finite."""
    values = run.scalars(track, blocks=1).scalars.get(scalar, np.zeros(0))
    return plain(float(values[-1])) if len(values) else None


def _script(facts: dict[str, Any]) -> str:
    words = facts.get("environment", {}).get("argv", [])
    return shown_file(str(words[0])) if words else ""


def _tags(facts: dict[str, Any]) -> list[str]:
    tags = facts.get("tags", [])
    return [str(tag) for tag in tags] if isinstance(tags, list) else []
