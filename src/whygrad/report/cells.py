"""Text as a terminal lays it out: cells, not characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len

TAB = "    "
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_JOINER = "\N{ZERO WIDTH JOINER}"

# What would move the cursor, recolour the terminal or turn the reading direction becomes one visible sign.
_VISIBLE = str.maketrans(
    {chr(code): chr(0x2400 + code) for code in range(0x20)}
    | {"\x7f": "\N{SYMBOL FOR DELETE}", "\t": TAB}
    | {
        chr(code): _REPLACEMENT
        for codes in (
            range(0x80, 0xA0),
            (0x061C, 0x200E, 0x200F, 0x2028, 0x2029),
            range(0x202A, 0x202F),
            range(0x2066, 0x206A),
            range(0xD800, 0xE000),
        )
        for code in codes
    }
)


def visible(text: str) -> str:
    """The text with nothing in it that a terminal would obey."""
    return text.translate(_VISIBLE)


def width(text: str) -> int:
    """How many cells text takes that is already visible."""
    return cell_len(text)


def window(text: str, start: int, end: int, room: int) -> tuple[int, int]:
    """The characters to show of a line that may be too long: as many as fit around `start` to `end`.

    One cell is kept free on each side that is cut, for the ellipsis.
    """
    if len(text) * len(TAB) <= room or width(visible(text)) <= room:
        return 0, len(text)
    budget = max(room - 2, 1)
    low = high = _joint(text, min(start, len(text)), -1)
    # A quarter for what stands before the span, also where the span alone would fill the row.
    low, budget = _extend_left(text, low, budget // 4, budget)
    high, budget = _extend_right(text, high, min(max(end, high), len(text)), budget)
    low, budget = _extend_left(text, low, budget // 3, budget)
    high, budget = _extend_right(text, high, len(text), budget)
    low, budget = _extend_left(text, low, budget, budget)
    if low == 0:  # no ellipsis there, so its cell is free
        high, budget = _extend_right(text, high, len(text), budget + 1)
    elif high == len(text):
        low, budget = _extend_left(text, low, budget + 1, budget + 1)
    return low, high


def wrap(text: str, room: int) -> Iterator[str]:
    """Visible lines of at most `room` cells, broken at spaces; a longer word stays whole."""
    for paragraph in text.split("\n"):
        first, *words = visible(paragraph).split(" ")
        line = first
        for word in words:
            if line.strip() and width(f"{line} {word}") > room:
                yield line.rstrip()
                line = word
            else:
                line = f"{line} {word}"
        yield line.rstrip()


def _extend_right(text: str, index: int, limit: int, budget: int) -> tuple[int, int]:
    """How far to the right the budget lasts, and what is left of it."""
    while index < limit:
        step = _joint(text, index + 1, +1)
        cost = width(visible(text[index:step]))
        if cost > budget:
            break
        index, budget = step, budget - cost
    return index, budget


def _extend_left(text: str, index: int, share: int, budget: int) -> tuple[int, int]:
    """How far to the left a share of the budget lasts, and what is left of the whole."""
    while index > 0:
        step = _joint(text, index - 1, -1)
        cost = width(visible(text[step:index]))
        if cost > share:
            break
        index, share, budget = step, share - cost, budget - cost
    return index, budget


def _joint(text: str, index: int, step: int) -> int:
    """The nearest index, in one direction, where cutting does not tear an accent or a joined emoji apart."""
    while 0 < index < len(text) and (_clings(text[index]) or text[index - 1] == _JOINER):
        index += step
    return index


def _clings(character: str) -> bool:
    if character == _JOINER or "🏻" <= character <= "🏿":  # the second: skin tones
        return True
    return unicodedata.category(character) in ("Mn", "Me", "Mc")


def aligned(headings: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[str] = ()) -> str:
    """A table in plain text, as wide as it needs; the columns named in `right` are numbers."""
    table = [list(headings), *(list(row) for row in rows)]
    numbers = {index for index, heading in enumerate(headings) if heading in set(right)}
    widths = [max(width(row[index]) for row in table) for index in range(len(headings))]

    def cell(text: str, index: int) -> str:
        space = " " * (widths[index] - width(text))
        return space + text if index in numbers else text + space

    return "\n".join("  ".join(cell(text, index) for index, text in enumerate(row)).rstrip() for row in table)
