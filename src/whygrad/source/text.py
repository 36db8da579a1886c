"""A stretch of the user's own code, and how to read it back: from a recording's texts, else from the file."""

from __future__ import annotations

import contextlib
import functools
import linecache
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

_CELL_OF_FILE = re.compile(r"(.+\.ipynb):cell (\d+)")
# What a kernel calls a cell that runs: IPython alone, Jupyter's kernel, and Colab, with the cell's number or without.
_CELL: Final = re.compile(
    r"<ipython-input-(\d+)-|[/\\]ipykernel_\d+[/\\]\d+\.py$|[/\\]ipython-input-(?:(\d+)-)?\d+\.py$"
)


@functools.total_ordering
@dataclass(frozen=True, slots=True)
class SourceSpan:
    """Lines are 1-based; columns are 0-based character offsets. Column `None`: only the line is known."""

    file: str
    line: int
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None

    @property
    def last_line(self) -> int:
        return self.line if self.end_line is None else self.end_line

    def contains_line(self, line: int) -> bool:
        return self.line <= line <= self.last_line

    def holds(self, inner: SourceSpan) -> bool:
        """Whether another span lies in this one; where columns are not known, by the lines."""
        begins, ends = (self.line, self.column or 0), (self.last_line, self.end_column)
        starts, stops = (inner.line, inner.column or 0), (inner.last_line, inner.end_column or 0)
        fits = ends[1] is None or stops <= (ends[0], ends[1])
        return self.file == inner.file and begins <= starts and stops[0] <= ends[0] and fits

    def __lt__(self, other: SourceSpan) -> bool:
        """In the order of the text; what is not known comes first."""
        return self._order < other._order

    @property
    def _order(self) -> tuple[str, int, int, int, int]:
        column, end_line, end_column = (
            -1 if known is None else known for known in (self.column, self.end_line, self.end_column)
        )
        return self.file, self.line, column, end_line, end_column


def cell_name(file: str, number: int) -> str:
    """What a cell of a notebook on disk is called in spans; counted from 1, as people do."""
    return f"{file}:cell {number}"


def notebook_of(file: str) -> tuple[str, int] | None:
    """The notebook that a cell is in, and which one it is."""
    match = _CELL_OF_FILE.fullmatch(file)
    return None if match is None else (match[1], int(match[2]))


_MAX_SOURCE: Final = 64 * 2**20  # bytes


class _Texts:
    """Texts of a recording, by file."""

    def __init__(self, of: Mapping[str, str]) -> None:
        self.of = of

    @functools.cached_property
    def cells(self) -> tuple[tuple[str, str], ...]:
        return tuple([(file, text) for file, text in self.of.items() if is_cell(file)])


_NOTHING: Final = _Texts({})
_recorded: ContextVar[_Texts] = ContextVar("recorded", default=_NOTHING)
_read: dict[str, tuple[list[str], str]] = {}


@contextlib.contextmanager
def texts_of(sources: Mapping[str, str]) -> Iterator[None]:
    """Inside the block files are as these texts say, whatever is on disk; a file that is not among them is read."""
    token = _recorded.set(_Texts(sources))
    try:
        yield
    finally:
        _recorded.reset(token)


def file_text(file: str) -> str:
    """The text of a file or notebook cell, line ends as `\\n`; empty where the source is gone."""
    recorded = _recorded.get().of.get(file)
    if recorded is not None:
        return recorded
    if file not in linecache.cache and _is_no_source(file):
        return ""
    try:
        lines = linecache.getlines(file)
    except ValueError:  # a name that no file can have
        return ""
    known = _read.get(file)
    # linecache hands out the same list until it reads the file anew: a cell that was not there a moment ago,
    # or a module that was edited and reloaded, is seen; a missing file is not remembered as missing.
    if known is None or known[0] is not lines:
        known = (lines, "\n".join(line.rstrip("\r\n") for line in lines))
        if lines:
            _read[file] = known
    return known[1]


@functools.lru_cache(maxsize=256)
def _lines(text: str) -> tuple[str, ...]:
    return tuple(text.split("\n")) if text else ()


def source_lines(file: str) -> tuple[str, ...]:
    """The lines of a file or notebook cell, without line ends; empty where the source is gone."""
    return _lines(file_text(file))


def _is_no_source(file: str) -> bool:
    """Whether a name stands for a device, a pipe or a giant: a run file from elsewhere may name anything."""
    try:
        found = os.stat(file)
    except (OSError, ValueError):  # found elsewhere, or nowhere
        return False
    return not stat.S_ISREG(found.st_mode) or not 0 < found.st_size <= _MAX_SOURCE


def refresh_sources() -> None:
    """Read files that were edited since they were last read; call it when a capture begins, not when it is
    shown: code that is edited while it runs is still explained with the text that runs."""
    linecache.checkcache()


def source_line(file: str, line: int) -> str | None:
    """One line of source, or None where it cannot be had."""
    lines = source_lines(file)
    return lines[line - 1] if 1 <= line <= len(lines) else None


def source_text(span: SourceSpan) -> str | None:
    """The source a span covers, on one line, or None where it cannot be had."""
    first = source_line(span.file, span.line)
    if first is None:
        return None
    if span.column is None or span.end_column is None:
        return first.strip()
    if span.last_line == span.line:
        return first[span.column : span.end_column]
    lines = [source_line(span.file, number) or "" for number in range(span.line, span.last_line + 1)]
    lines[0], lines[-1] = lines[0][span.column :], lines[-1][: span.end_column]
    return " ".join(line.strip() for line in lines)


def characters(line: str | None, offset: int) -> int:
    """A column in characters, for one that Python counts in bytes of UTF-8."""
    if line is None or line.isascii():
        return offset
    return len(line.encode()[:offset].decode(errors="ignore"))


def shown_file(file: str) -> str:
    """The name a user knows a file by: `cell [3]`, or a path, relative if below the working directory."""
    if is_cell(file):
        number = _cell_number(file)
        return "notebook cell" if number is None else f"cell [{number}]"
    if file.startswith("<"):
        return file
    try:
        return _relative_path(file, os.getcwd())
    except (OSError, ValueError):  # the working directory was deleted; a name that no file can have
        return file


@functools.lru_cache(maxsize=4096)
def is_cell(file: str) -> bool:
    """Whether the name is that of a notebook cell that runs, as its kernel calls it."""
    return _CELL.search(file) is not None


def in_one_module(one: str, other: str) -> bool:
    """Whether the names are of one file, or both of cells: these are one module."""
    return one == other or (is_cell(one) and is_cell(other))


def cells_around(file: str) -> tuple[tuple[str, str], ...]:
    """The cells of the notebook that a cell belongs to, with their texts, in the order in which they first ran."""
    recorded = _recorded.get()
    if file in recorded.of:
        return recorded.cells
    return tuple([(each, file_text(each)) for each in list(linecache.cache) if is_cell(each)])


def is_on_disk(file: str) -> bool:
    """Whether the name is that of a file, not of a notebook cell or of code made from a string."""
    return not (file.startswith("<") or is_cell(file))


def _cell_number(file: str) -> str | None:
    if (match := _CELL.search(file)) and (number := match[1] or match[2]):
        return number
    # Asking the running IPython which cell a name belongs to; one that was never imported knows none.
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    name = getattr(getattr(shell, "compile", None), "format_code_name", lambda _: None)(file)
    match = re.search(r"\d+", name[1]) if name else None
    return match[0] if match else None


@functools.lru_cache(maxsize=1024)
def _relative_path(file: str, folder: str) -> str:
    root = folder.rstrip(os.sep) + os.sep
    for path in (os.path.abspath(file), os.path.realpath(file)):
        if path.startswith(root):
            return path[len(root) :]
    return file
