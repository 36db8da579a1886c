"""Underlines and labels below a line of source, in cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from rich.text import Text

from whygrad.report.cells import visible, width, window, wrap
from whygrad.report.excerpt import ExcerptLine, Mark

SECONDARY = "bold blue"
_ELLIPSIS = "…"
_NARROWEST_LABEL = 36  # cells: with less room than this, a label is moved to the left
_WHOLE_LABEL = 60  # cells: a label up to this is moved so far that it need not be broken


@dataclass(frozen=True, slots=True)
class _Placed:
    """A mark in cells of the row that is shown."""

    start: int
    stop: int
    mark: Mark
    style: str

    @property
    def text(self) -> str:
        return self.mark.text


def draw(line: ExcerptLine, room: int, style: str) -> Iterator[Text]:
    """The row of source, then its underlines and labels; within `room` cells, unless a word is longer."""
    low, high = _shown_part(line, room)
    before, after = low > 0, high < len(line.text)
    yield Text(_ELLIPSIS * before + visible(line.text[low:high]) + _ELLIPSIS * after)
    if line.marks:
        placed = [_place(line, mark, low, high, style) for mark in line.marks]
        yield from _annotations(placed, room)


def _shown_part(line: ExcerptLine, room: int) -> tuple[int, int]:
    if not line.marks:
        return window(line.text, 0, 0, room)
    start, end = min(m.start for m in line.marks), max(m.end for m in line.marks)
    if width(visible(line.text[start:end])) > room - 2:
        main = max(line.marks, key=lambda mark: mark.primary)
        start, end = main.start, main.end
    return window(line.text, start, end, room)


def _place(line: ExcerptLine, mark: Mark, low: int, high: int, style: str) -> _Placed:
    start, stop = _cell(line.text, mark.start, low, high), _cell(line.text, mark.end, low, high)
    return _Placed(start, max(stop, start + 1), mark, style if mark.primary else SECONDARY)


def _cell(text: str, index: int, low: int, high: int) -> int:
    """The cell at which a character begins; what is cut off lies under the ellipsis."""
    if index < low:
        return 0
    past_the_end = 1 if index > high else 0
    return (1 if low else 0) + width(visible(text[low : min(index, high)])) + past_the_end


def _annotations(placed: list[_Placed], room: int) -> Iterator[Text]:
    underline = _underline(placed)
    last = max(placed, key=lambda p: (p.stop, p.mark.primary))
    hanging = [p for p in placed if p.text]
    if last.text and "\n" not in last.text and last.stop + 1 + width(visible(last.text)) <= room:
        underline.append(f" {visible(last.text)}", last.style)
        hanging.remove(last)
    yield underline
    hanging.sort(key=lambda p: (-p.start, not p.mark.primary))
    if hanging:
        yield _connectors(hanging)
    for index, label in enumerate(hanging):
        yield from _label(label, [p for p in hanging[index + 1 :] if p.start < label.start], room)


def _underline(placed: list[_Placed]) -> Text:
    """All marks in one row, the shorter ones on top of those that enclose them."""
    row: list[tuple[str, str]] = [(" ", "")] * max(p.stop for p in placed)
    for p in sorted(placed, key=lambda p: (p.start - p.stop, p.mark.primary)):
        sign = "^" if p.mark.primary else "-"
        row[p.start : p.stop] = [(sign, p.style)] * (p.stop - p.start)
    runs = (("".join(sign for sign, _ in run), style) for style, run in groupby(row, key=lambda cell: cell[1]))
    return Text.assemble(*runs)


def _connectors(labels: list[_Placed]) -> Text:
    text = Text()
    for p in sorted(labels, key=lambda p: p.start):
        if p.start >= len(text):
            text.append(" " * (p.start - len(text)))
            text.append("|", p.style)
    return text


def _label(label: _Placed, left_of_it: list[_Placed], room: int) -> Iterator[Text]:
    longest = max(width(visible(line)) for line in label.text.split("\n"))
    column = label.start
    if room - column < min(longest, _NARROWEST_LABEL):
        column = max(0, room - min(longest, _WHOLE_LABEL))
    for line in wrap(label.text, room - column):
        text = _connectors([p for p in left_of_it if p.start < column])
        text.append(" " * (column - len(text)))
        text.append(line, label.style)
        yield text
