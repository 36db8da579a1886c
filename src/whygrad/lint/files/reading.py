"""A file as text that can be parsed, and the way back from its lines to those that the user sees."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import Final

from whygrad.diagnostics import Diagnostic, Edit, Fix, Label
from whygrad.lint.engine import attempt, unreadable
from whygrad.source import SourceSpan, cell_name
from whygrad.source.editing import EditError, edited

LONGEST: Final = 20 * 2**20  # bytes: more than any file that a person wrote
_MAGIC: Final = re.compile(r"^(\s*)([%!?].*|[\w.\[\]]+\?\??)$")
_ABOUT_PYTHON: Final = ("%%time", "%%timeit", "%%capture")  # cells whose rest is Python
_ASSIGNED_MAGIC: Final = re.compile(r"^(\s*[\w, ]+=\s*)([%!].*)$")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a notebook, and the line of the joined text that its first line is."""

    file: str
    first: int
    lines: int


@dataclass(frozen=True, slots=True)
class Source:
    """`cells` empty: an ordinary file, whose text is its own."""

    file: str
    text: str
    cells: tuple[Cell, ...] = ()
    sources: dict[str, str] = field(default_factory=dict)  # the texts that excerpts are taken from

    def shown(self, diagnostic: Diagnostic) -> Diagnostic:
        """A diagnostic at the places that the user knows."""
        if not self.cells:
            return diagnostic
        return replace(
            diagnostic,
            primary=None if diagnostic.primary is None else self._label(diagnostic.primary),
            related=tuple(map(self._label, diagnostic.related)),
            fixes=tuple(fix for each in diagnostic.fixes if (fix := self._fix(each)) is not None),
        )

    def _label(self, label: Label) -> Label:
        cell = self._cell(label.span.line)
        return label if cell is None else Label(_moved(label.span, cell), label.text)

    def _cell(self, line: int) -> Cell | None:
        return next((cell for cell in reversed(self.cells) if cell.first <= line), None)

    def _fix(self, fix: Fix) -> Fix | None:
        """A fix at the places that the user knows; None where it would touch a magic, or tear a block in two."""
        edits = [self._edit(each) for each in fix.edits]
        placed = tuple(each for each in edits if each is not None)
        if len(placed) != len(edits):
            return None
        for cell in {each.span.file for each in placed}:
            try:
                code = edited(self.sources[cell], [(each.span, each.text) for each in placed if each.span.file == cell])
            except EditError:
                return None
            if isinstance(_compiled(cell, code), Diagnostic):
                return None
        return replace(fix, edits=placed)

    def _edit(self, edit: Edit) -> Edit | None:
        span, cell = edit.span, self._cell(edit.span.line)
        if cell is None or span.file != self.file:
            return None
        written, read = self.sources[cell.file].split("\n"), self.text.split("\n")[cell.first - 1 :]
        span = _moved(span, cell)
        if span.last_line == cell.lines + 1 and span.end_column == 0 and span.line <= cell.lines:  # with its line end
            span = SourceSpan(span.file, span.line, span.column, cell.lines, len(written[-1]))
        if span.last_line > cell.lines:
            return None
        touched = range(span.line - 1, span.last_line)
        return Edit(span, edit.text) if all(written[n] == read[n] for n in touched) else None


def _moved(span: SourceSpan, cell: Cell) -> SourceSpan:
    """The place in a cell of a place in the joined text."""
    shift = cell.first - 1
    end = None if span.end_line is None else span.end_line - shift
    return SourceSpan(cell.file, span.line - shift, span.column, end, span.end_column)


def read_source(file: str, data: bytes) -> Source | Diagnostic:
    """The text of a file, or what is wrong with it."""
    if len(data) > LONGEST:
        return unreadable(file, f"it has more than {LONGEST // 2**20} MiB", 1, None)
    if b"\0" in data:
        return unreadable(file, "it holds null bytes", data[: data.index(b"\0")].count(b"\n") + 1, None)
    if file.endswith(".ipynb"):
        return _notebook(file, data)
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (SyntaxError, LookupError) as error:
        return unreadable(file, str(error), 1, None)
    except UnicodeDecodeError as error:
        return unreadable(file, f"it is not {error.encoding}", data[: error.start].count(b"\n") + 1, None)
    return Source(file, text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff"))


def _notebook(file: str, data: bytes) -> Source | Diagnostic:
    try:
        document = json.loads(data)
        cells = document.get("cells") or [cell for sheet in document.get("worksheets", ()) for cell in sheet["cells"]]
        codes = [(n, _code(cell)) for n, cell in enumerate(cells, 1) if cell.get("cell_type") == "code"]
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError) as error:
        return unreadable(file, f"it is not a notebook: {error}", 1, None)
    texts: list[str] = []
    found: list[Cell] = []
    sources: dict[str, str] = {}
    line = 1
    for number, code in codes:
        name = cell_name(file, number)
        plain = _without_magics(code)
        sources[name] = code
        count = plain.count("\n") + 1
        found.append(Cell(name, line, count))
        texts.append("\n" * (count - 1) if isinstance(_compiled(name, code), Diagnostic) else plain)
        line += count
    return Source(file, "\n".join(texts), tuple(found), sources)


def broken_cells(source: Source) -> list[Diagnostic]:
    """The cells of a notebook that are no Python; the others are checked all the same."""
    tried = (_compiled(cell.file, source.sources[cell.file]) for cell in source.cells)
    return [each for each in tried if isinstance(each, Diagnostic)]


def _compiled(cell: str, code: str) -> CodeType | Diagnostic:
    return attempt(cell, lambda: compile(_without_magics(code), cell, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT))


def _code(cell: dict[str, object]) -> str:
    source = cell.get("source", cell.get("input", ""))
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _without_magics(code: str) -> str:
    """The cell with as many lines, and nothing in it that only a notebook understands."""
    if code.lstrip().startswith("%%"):
        first = code.lstrip().split(None, 1)[0]
        if first not in _ABOUT_PYTHON:
            return "\n" * code.count("\n")
        code = code.replace(first, f"#{first}", 1)
    lines = code.split("\n")
    for number, line in enumerate(lines):
        if match := _MAGIC.match(line):
            lines[number] = f"{match[1]}pass"
        elif match := _ASSIGNED_MAGIC.match(line):
            lines[number] = f"{match[1]}None"
    return "\n".join(lines)
