"""The addresses of the JSON API: one table that answers, and that describes itself as OpenAPI."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any, Final

from whygrad.errors import UsageError
from whygrad.report.page.models import nonfinite_view
from whygrad.store import RunNotFoundError, RunUnreadableError
from whygrad.web.library import Library
from whygrad.web.views.curves import compare_view, scalars_view, variable_view
from whygrad.web.views.heat import heat
from whygrad.web.views.histograms import histograms_view
from whygrad.web.views.runs import run_view, runs_view

Values = Mapping[str, str]
_POINTS: Final = (16, 5000, 1200)  # least, most, default
_COLUMNS: Final = (8, 600, 160)
_HISTOGRAMS: Final = (1, 200, 60)
_LONGEST: Final = 4096  # characters of one value


@dataclass(frozen=True, slots=True)
class Route:
    """`{name}` in a path is one part of it; `query` are further values, with whether they must be given."""

    path: str
    summary: str
    answer: Callable[[Library, Values], Any]
    query: Mapping[str, bool]

    def values_in(self, path: str) -> dict[str, str] | None:
        found = re.fullmatch(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", self.path), path)
        return None if found is None else found.groupdict()


def _whole(values: Values, name: str, bounds: tuple[int, int, int]) -> int:
    text = values.get(name, str(bounds[2]))
    if not re.fullmatch(r"[0-9]{1,6}", text):
        raise UsageError(f"`{name}` must be a whole number")
    return min(max(int(text), bounds[0]), bounds[1])


def _way(library: Library, values: Values) -> Any:
    ways = library.ways(library.run(values["run"]))
    request, source = (_whole(values, name, (0, 10**6, 0)) for name in ("request", "source"))
    if ways is None:
        raise RunNotFoundError("this run has no recording", help="record it with `whygrad run --record`")
    try:
        return ways.way(request, source, folded=values.get("folded", "1") != "0")
    except IndexError:
        raise RunNotFoundError(f"the recording has no path {request}/{source}") from None


def _why(library: Library, values: Values) -> Any:
    ways = library.ways(library.run(values["run"]))
    return [] if ways is None else ways.requests()


def _nan(library: Library, values: Values) -> Any:
    recording = library.recording(library.run(values["run"]))
    return [] if recording is None else nonfinite_view(recording)


def _of_track(values: Values, library: Library) -> str:
    tracks = [track.name for track in library.run(values["run"]).tracks()]
    name = values.get("track") or next(iter(tracks), "")
    if name not in tracks:
        raise RunNotFoundError(f"run `{values['run']}` has no track `{name}`")
    return name


ROUTES: Final = (
    Route("runs", "All runs, newest first", lambda library, values: runs_view(library), {}),
    Route("runs/{run}", "One run", lambda library, values: run_view(library, library.run(values["run"])), {}),
    Route(
        "runs/{run}/scalars",
        "Loss, metrics and the like over the steps",
        lambda library, values: scalars_view(
            library.run(values["run"]), _of_track(values, library), _whole(values, "points", _POINTS)
        ),
        {"track": False, "points": False},
    ),
    Route(
        "runs/{run}/heat",
        "The norm of every variable over the steps",
        lambda library, values: heat(
            library.run(values["run"]), _of_track(values, library), _whole(values, "columns", _COLUMNS)
        ),
        {"track": False, "columns": False},
    ),
    Route(
        "runs/{run}/variable",
        "One variable over the steps",
        lambda library, values: variable_view(
            library, library.run(values["run"]), values["name"], values.get("track"), _whole(values, "points", _POINTS)
        ),
        {"name": True, "track": False, "points": False},
    ),
    Route(
        "runs/{run}/histograms",
        "How the elements of a gradient, weight and update are spread, at some steps",
        lambda library, values: histograms_view(
            library.run(values["run"]), values["name"], values.get("track"), _whole(values, "most", _HISTOGRAMS)
        ),
        {"name": True, "track": False, "most": False},
    ),
    Route("runs/{run}/why", "Every gradient that was asked for", _why, {}),
    Route(
        "runs/{run}/way/{request}/{source}", "The way from one variable to its loss, laid out", _way, {"folded": False}
    ),
    Route("runs/{run}/nan", "Where values that are not finite came from", _nan, {}),
    Route(
        "compare",
        "Several runs by step and variable",
        lambda library, values: compare_view(library, values["runs"].split(","), _whole(values, "points", _POINTS)),
        {"runs": True, "points": False},
    ),
    Route("openapi.json", "This description", lambda library, values: description(), {}),
)


def answer(library: Library, path: str, query: Values) -> tuple[int, Any]:
    """The status and the JSON for an address below `api/`."""
    for route in ROUTES:
        parts = route.values_in(path)
        if parts is None:
            continue
        values = {**{key: value for key, value in query.items() if key in route.query}, **parts}
        lacking = [name for name, needed in route.query.items() if needed and not values.get(name)]
        if lacking:
            return 400, {"error": f"`{lacking[0]}` is missing"}
        if any(len(value) > _LONGEST for value in values.values()):
            return 400, {"error": "a value is too long"}
        return answered(partial(route.answer, library, values))
    return 404, {"error": f"there is no `{path[:100]}`"}


def answered(find: Callable[[], Any]) -> tuple[int, Any]:
    """What is found, or the sentence that says why nothing is."""
    try:
        return 200, find()
    except RunNotFoundError as error:
        return 404, {"error": error.message, "help": error.help}
    except RunUnreadableError as error:
        return 422, {"error": error.message, "help": error.help}
    except UsageError as error:
        return 400, {"error": error.message, "help": error.help}


_TEXT: Final = {"type": "string", "minLength": 1, "maxLength": _LONGEST}
_NUMBER: Final = {"type": "integer", "minimum": 0, "maximum": 999_999}
_FORMS: Final = {"points": _NUMBER, "columns": _NUMBER, "most": _NUMBER, "request": _NUMBER, "source": _NUMBER}


def description() -> dict[str, Any]:
    """The OpenAPI description of the table above."""
    failure = {"description": "A sentence in `error`", "content": {"application/json": {"schema": {"type": "object"}}}}
    good = {"description": "Found", "content": {"application/json": {"schema": {}}}}
    paths = {}
    for route in ROUTES:
        inside = re.findall(r"\{(\w+)\}", route.path)
        given = [(name, "path", True) for name in inside] + [(n, "query", must) for n, must in route.query.items()]
        paths[f"/api/{route.path}"] = {
            "get": {
                "summary": route.summary,
                "parameters": [
                    {"name": name, "in": place, "required": must, "schema": _FORMS.get(name, _TEXT)}
                    for name, place, must in given
                ],
                "responses": {"200": good, "400": failure, "403": failure, "404": failure, "422": failure},
            }
        }
    return {"openapi": "3.1.0", "info": {"title": "whygrad", "version": version("whygrad")}, "paths": paths}
