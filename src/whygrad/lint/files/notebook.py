"""A notebook as the text that it is: cells are changed line by line, all else stays byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from whygrad.source import SourceSpan, notebook_of
from whygrad.source.editing import EditError, edited

_DECODER: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_LINE: Final = re.compile(r"(?:[^\\]|\\[^n])*(?:\\n)?")  # of a string as JSON writes it


@dataclass(frozen=True, slots=True)
class CellText:
    """The source of a cell: a list of strings, or one; then its lines count as strings."""

    number: int
    start: int
    end: int
    strings: tuple[tuple[int, int, str], ...]  # from, to, and what each says
    is_list: bool

    @property
    def code(self) -> str:
        return "".join(text for _, _, text in self.strings)


@dataclass(frozen=True, slots=True)
class Notebook:
    """The text of a notebook, with its own spaces and escapes."""

    text: str
    encoding: str

    @property
    def data(self) -> bytes:
        return self.text.encode(self.encoding, "surrogatepass")

    def cells(self) -> Iterator[CellText]:
        """Its cells in their order; ValueError or IndexError where the text is no notebook."""
        found = {key: at for key, at, _ in _members(self.text, _skip(self.text, 0))}
        if "cells" in found:
            lists = [found["cells"]]
        else:
            sheets = _elements(self.text, found["worksheets"]) if "worksheets" in found else ()
            lists = [at for sheet, _ in sheets for key, at, _ in _members(self.text, sheet) if key == "cells"]
        starts = [start for each in lists for start, _ in _elements(self.text, each)]
        for number, start in enumerate(starts, 1):
            for key, at, end in _members(self.text, start):
                if key in ("source", "input"):
                    yield self._cell(number, at, end)

    def _cell(self, number: int, at: int, end: int) -> CellText:
        is_list = self.text[at] == "["
        if is_list:
            places = list(_elements(self.text, at))
            said = [json.loads(self.text[start:stop]) for start, stop in places]
        else:
            places = [match.span() for match in _LINE.finditer(self.text, at + 1, end - 1) if match[0]]
            said = [json.loads(f'"{self.text[start:stop]}"') for start, stop in places]
        strings = tuple((start, stop, str(line)) for (start, stop), line in zip(places, said, strict=True))
        return CellText(number, at, end, strings, is_list)

    def edited(self, edits: Iterable[tuple[SourceSpan, str]]) -> Notebook:
        """The notebook after all edits, whose places are lines of cells; an `EditError` where they do not fit."""
        wanted: dict[int, list[tuple[SourceSpan, str]]] = {}
        for span, new in edits:
            place = notebook_of(span.file)
            if place is None:
                raise EditError("an edit lies in no cell")
            wanted.setdefault(place[1], []).append((span, new))
        text = self.text
        for cell in reversed(list(self.cells())):
            if cell.number in wanted:
                changed = edited(cell.code, wanted[cell.number])
                text = text[: cell.start] + self._written(cell, changed) + text[cell.end :]
        return Notebook(text, self.encoding)

    def _written(self, cell: CellText, code: str) -> str:
        """The source of a cell: lines that stay are copied as they are written, the others in the same manner."""
        first, last, count = 0, 0, len(cell.strings)
        rest = code
        while first < count and rest.startswith(line := cell.strings[first][2]) and line.endswith("\n"):
            rest, first = rest[len(line) :], first + 1
        while last < count - first and _ends_in_line(rest, line := cell.strings[count - 1 - last][2]):
            rest, last = rest[: len(rest) - len(line)], last + 1
        kept = [self.text[start:end] for start, end, _ in cell.strings]
        lines = [json.dumps(line, ensure_ascii=self.text.isascii()) for line in rest.splitlines(keepends=True)]
        if not cell.is_list:
            return "".join(['"', *kept[:first], *(line[1:-1] for line in lines), *kept[count - last :], '"'])
        begin = self.text[cell.start : cell.strings[0][0]]
        between = self.text[cell.strings[0][1] : cell.strings[1][0]] if count > 1 else "," + begin[1:]
        end = self.text[cell.strings[-1][1] : cell.end]
        return begin + between.join([*kept[:first], *lines, *kept[count - last :]]) + end


def read_notebook(data: bytes) -> Notebook:
    """A notebook from its bytes; UnicodeError where they are no text."""
    encoding = json.detect_encoding(data)
    return Notebook(data.decode(encoding, "surrogatepass"), encoding)


def _ends_in_line(text: str, line: str) -> bool:
    """Whether a text ends in this line, and not in a longer one."""
    before = text[: len(text) - len(line)]
    return text.endswith(line) and (not before or before.endswith("\n"))


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


def _members(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """The keys of an object, and from where to where their values are written."""
    if text[at] != "{":
        raise ValueError("not an object")
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        yield key, at, end
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at


def _elements(text: str, at: int) -> Iterator[tuple[int, int]]:
    """From where to where the elements of a list are written."""
    if text[at] != "[":
        raise ValueError("not a list")
    at = _skip(text, at + 1)
    while text[at] != "]":
        _, end = _DECODER.raw_decode(text, at)
        yield at, end
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
