"""The scripts and the style of the page, as files for a server and as one piece for a file."""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from pathlib import Path
from typing import Final

from whygrad.report.html import STYLE

_FOLDER: Final = Path(__file__).with_name("static")
# Each uses only those before it: one after another they are one script.
MODULES: Final = (
    *("dom.js", "data.js", "charts.js", "histogram.js", "terms.js", "graph.js"),
    *("run_view.js", "why_view.js", "runs_view.js", "main.js"),
)
TYPES: Final = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
_IMPORT: Final = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_EXPORT: Final = re.compile(r"^export ", re.MULTILINE)


def asset(name: str) -> str | None:
    """The text of a file that a page may ask for; None for any other name."""
    if name == "page.css":
        return style()
    return _read(name) if name in (*MODULES, "index.html", "tensorboard.js") else None


@functools.cache
def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


@functools.cache
def style() -> str:
    return _read("page.css") + STYLE


@functools.cache
def script() -> str:
    """All modules as one, without the words that tie them."""
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", _read(name))) for name in MODULES)


def digest(text: str) -> str:
    """What a Content-Security-Policy calls a piece of script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
