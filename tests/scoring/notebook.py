"""A program as a notebook: its statements in a few cells, which IPython runs one after another."""

from __future__ import annotations

import ast
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CELLS = 6  # or a few more


def cells_of(text: str) -> list[tuple[int, str]]:
    """The line that each cell begins at, and its text."""
    body, lines = ast.parse(text).body, text.split("\n")
    step = max(1, len(body) // CELLS)
    starts = [1, *(_first_line(statement) for statement in body[step::step])]
    ends = [*(start - 1 for start in starts[1:]), len(lines)]
    return [(start, "\n".join(lines[start - 1 : end])) for start, end in zip(starts, ends, strict=True)]


def run_cells(file: Path) -> dict[str, Any]:
    """The names of the notebook after its last cell; what a cell raises ends it."""
    from IPython.core.interactiveshell import InteractiveShell

    with tempfile.TemporaryDirectory() as home:
        shell = InteractiveShell(ipython_dir=home)
        shell.showtraceback = lambda *args, **kwargs: None
        sys.modules["__main__"] = shell.user_module
        for number, (_, text) in enumerate(cells_of(file.read_text(encoding="utf-8")), 1):
            shell.execution_count = number
            shell.run_cell(text).raise_error()
    return dict(shell.user_ns)


def in_file(report: dict[str, Any], file: Path) -> dict[str, Any]:
    """A report with the places in cells as places in the file that the cells were taken from."""
    starts = [start for start, _ in cells_of(file.read_text(encoding="utf-8"))]
    for place in _places(report["diagnostics"]):
        number = re.fullmatch(r"<ipython-input-(\d+)-.*>|cell \[(\d+)\]", place["file"])
        if number is not None:
            above = starts[int(number[1] or number[2]) - 1] - 1
            place["file"], place["line"] = str(file), place["line"] + above
            place["end_line"] = place["end_line"] and place["end_line"] + above
    return report


def _places(found: Any) -> Iterator[dict[str, Any]]:
    """Each span in a report once, whatever holds it."""
    if isinstance(found, list):
        for each in found:
            yield from _places(each)
    elif isinstance(found, dict):
        if "end_line" in found:
            yield found
        for each in found.values():
            yield from _places(each)


def _first_line(statement: ast.stmt) -> int:
    return min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", ()))])
