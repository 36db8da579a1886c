"""One HTML file with the page, its scripts and its data: it opens offline, and asks nobody for anything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Any, Final

from whygrad.graph import Recording
from whygrad.report.html import content
from whygrad.report.page import assets
from whygrad.report.page.models import nonfinite_view, report_view
from whygrad.report.page.why import Ways
from whygrad.report.report_data import ReportData

_MOST_WAYS: Final = 200  # of one file; those that were cut come first
_MOST_CHARACTERS: Final = 8 * 2**20  # of ways

Data = Mapping[str, Any]  # what a server would answer, by address


def document(report: ReportData) -> str:
    """A report as a page."""
    data: dict[str, Any] = {"run": {"id": "", "name": "", **report_view(report)}}
    if report.recording is not None:
        data |= ways_data(Ways(report.recording, [reach.loss for reach in report.gradients]), report.recording)
    return page(data, plain=content(report))


def ways_data(ways: Ways, recording: Recording) -> dict[str, Any]:
    """What the views of causes ask for, by address."""
    found: dict[str, Any] = {"why": ways.requests(), "nan": nonfinite_view(recording)}
    room = _MOST_CHARACTERS
    for _, (request, source) in zip(range(_MOST_WAYS), ways.numbers(), strict=False):
        way = ways.way(request, source)
        room -= len(json.dumps(way))
        if room < 0:
            break
        found[f"way/{request}/{source}"] = way
    return found


def page(data: Data, title: str = "whygrad", plain: str = "") -> str:
    """The whole file. The policy names the pieces it consists of by their hashes, and forbids all others.

    `plain`: what is shown where scripts are not run, as in the file viewers of CI servers.
    """
    style, script = assets.style(), assets.script()
    policy = (
        f"default-src 'none'; script-src {assets.digest(script)}; style-src {assets.digest(style)}; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )
    return "\n".join(
        [
            "<!DOCTYPE html>",
            "<html lang='en'>",
            f"<head><meta charset='utf-8'><meta http-equiv='Content-Security-Policy' content=\"{escape(policy)}\">",
            "<meta name='viewport' content='width=device-width, initial-scale=1'>",
            "<meta name='color-scheme' content='light dark'>",
            f"<title>{escape(title)}</title><style>{style}</style></head>",
            f"<body><div id='page' class='whygrad'>{plain}</div>",
            f"<script type='application/json' id='data'>{inert(data)}</script>",
            f"<script type='module'>{script}</script></body>",
            "</html>",
        ]
    )


def inert(data: Data) -> str:
    """JSON that cannot end the element it stands in, whatever a variable is called."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
