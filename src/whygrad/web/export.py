"""A recorded run as one HTML file: what a server would answer, put into the page."""

from __future__ import annotations

import json
from typing import Any, Final

from whygrad.report.html import card
from whygrad.report.page.document import page, ways_data
from whygrad.report.page.why import Confined
from whygrad.source import texts_of
from whygrad.store import Run
from whygrad.web.library import Library
from whygrad.web.views.curves import scalars_view, variable_view
from whygrad.web.views.heat import heat
from whygrad.web.views.histograms import histograms_view
from whygrad.web.views.runs import run_view

_POINTS: Final = 400  # of a curve in a file
_HISTOGRAMS: Final = 12  # steps, of one variable
_MOST_CHARACTERS: Final = 8 * 2**20  # of the curves of variables


def run_page(run: Run) -> str:
    """The whole file."""
    library = Library([run.path.parent])
    view = run_view(library, run)
    data: dict[str, Any] = {"run": view}
    for track in view["tracks"]:
        data[f"scalars?track={track['name']}"] = scalars_view(run, track["name"], _POINTS)
        data[f"heat?track={track['name']}"] = heat(run, track["name"])
    room = _MOST_CHARACTERS
    for variable in view["variables"]:
        found = variable_view(library, run, variable["name"], variable["track"], _POINTS)
        spread = histograms_view(run, variable["name"], variable["track"], _HISTOGRAMS)
        room -= len(json.dumps([found, spread]))
        if room < 0:
            break
        words = f"name={variable['name']}&track={variable['track']}"
        data |= {f"variable?{words}": found, f"histograms?{words}": spread}
    ways, recording = library.ways(run), library.recording(run)
    if ways is not None and recording is not None:
        data |= ways_data(ways, recording)
    with texts_of(Confined({} if recording is None else recording.sources)):
        plain = "".join(card(each) for each in run.diagnostics())
    return page(data, title=f"{view['name'] or run.id} · whygrad", plain=plain)
