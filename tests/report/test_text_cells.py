"""Underlines lie under what they underline, whatever the line holds."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from report.samples import diagnostic, in_memory
from report.strategies import REPORTS
from whygrad.diagnostics import Label
from whygrad.report import Report, render, render_diagnostic
from whygrad.report.cells import visible, window, wrap
from whygrad.report.excerpt import excerpts
from whygrad.source import SourceSpan

# How many cells each takes, from the Unicode standard and the terminal's manual, not from the code under test.
CELLS = {"a": 1, "_": 1, "(": 1, " ": 1, "\t": 4, "é": 1, "e\u0301": 1, "ｱ": 1, "Ａ": 2, "中": 2, "한": 2, "👍": 2}
PIECES = st.lists(st.sampled_from(sorted(CELLS)), max_size=12)
ANY_LINE = st.text(st.characters(exclude_characters="\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), min_size=1)


def _rows(file: str, start: int, end: int, width: int) -> tuple[str, str]:
    """The source row and the row of the underline, without the gutter."""
    shown = render_diagnostic(diagnostic(SourceSpan(file, 1, start, 1, end), ""), width=width).split("\n")
    source, underline = (row[4:] for row in shown[3:5])
    assert re.fullmatch(r" *\^+", underline)
    return source, underline


@given(before=PIECES, inside=PIECES.filter(lambda p: "".join(p).strip()), after=PIECES)
def test_the_underline_begins_and_ends_with_the_span(before: list[str], inside: list[str], after: list[str]) -> None:
    start, length = len("".join(before)), len("".join(inside))
    file = in_memory(f"{''.join(before + inside + after)};\n")

    _, underline = _rows(file, start, start + length, width=400)

    assert underline.index("^") == sum(CELLS[piece] for piece in before)
    assert underline.count("^") == sum(CELLS[piece] for piece in inside)


@given(line=ANY_LINE, data=st.data())
def test_what_stands_over_the_underline_is_the_span(line: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(line) - 1))
    end = data.draw(st.integers(start + 1, len(line)))

    source, underline = _rows(in_memory(f"{line};\n"), start, end, width=10_000)

    assert source == visible(f"{line};")
    left, stop = underline.index("^"), len(underline)
    assert left == cell_len(visible(line[:start]))
    assert stop == max(cell_len(visible(line[:end])), left + 1)


@given(pieces=st.lists(st.sampled_from(sorted(CELLS)), min_size=60, max_size=300), data=st.data())
def test_a_line_that_is_cut_fits_and_keeps_the_span_in_sight(pieces: list[str], data: st.DataObject) -> None:
    line = "".join(pieces)
    first = data.draw(st.integers(0, len(pieces) - 1))
    start = len("".join(pieces[:first]))
    end = start + len(pieces[first])

    source, underline = _rows(in_memory(f"{line};\n"), start, end, width=60)

    # The gutter takes four of the sixty cells.
    assert sum(CELLS.get(piece, 1) for piece in _pieces(source)) <= 56
    over = _over(source, underline)
    assert over.strip() == visible(pieces[first]).strip()


def _pieces(row: str) -> list[str]:
    return re.findall("e\u0301|.", row)


def _over(source: str, underline: str) -> str:
    """What of the source row stands over the underline, found by walking along the row."""
    cell, over = 0, ""
    for piece in _pieces(source):
        if underline.index("^") <= cell < len(underline):
            over += piece
        cell += CELLS.get(piece, 1)
    return over


@given(text=st.text(), start=st.integers(0, 50), length=st.integers(0, 50), room=st.integers(1, 80))
def test_a_window_is_within_the_text(text: str, start: int, length: int, room: int) -> None:
    low, high = window(text, start, start + length, room)

    assert 0 <= low <= high <= len(text)
    if cell_len(visible(text)) <= room:
        assert (low, high) == (0, len(text))


@given(words=st.lists(st.text("ab中`", min_size=1, max_size=9), min_size=1), room=st.integers(18, 60))
def test_wrapped_lines_fit_and_lose_no_word(words: list[str], room: int) -> None:
    wrapped = list(wrap(" ".join(words), room))

    assert " ".join(wrapped).split() == words
    assert all(cell_len(line) <= room for line in wrapped)


def test_a_joined_emoji_is_not_torn_by_a_cut() -> None:
    family = "👨\u200d👩\u200d👧"
    low, high = window(family * 30, 0, 1, 40)

    assert low == 0
    assert (family * 30)[:high].endswith(family)


def test_indents_and_line_ends_of_prose_are_kept() -> None:
    assert list(wrap("first\n  second", 40)) == ["first", "  second"]


NUMBERS = st.none() | st.integers(0, 12)


@given(
    text=st.lists(st.text("a =(中\t", max_size=15), max_size=9).map("\n".join),
    spans=st.lists(st.tuples(st.integers(0, 12), NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=4),
    width=st.integers(1, 200),
)
def test_a_span_that_does_not_fit_its_source_is_still_shown(
    text: str, spans: list[tuple[int, int | None, int | None, int | None]], width: int
) -> None:
    file = in_memory(text)
    first, *others = (SourceSpan(file, *place) for place in spans)

    found = diagnostic(first, "first", related=tuple(Label(span, "other") for span in others))
    shown = render_diagnostic(found, width=width)

    assert shown.count("first") == 1
    assert shown.count("other") == len(others)
    assert all(line == line.rstrip() for line in shown.split("\n"))
    shown_lines = [line for excerpt in excerpts(found) for line in excerpt.lines if line is not None]
    assert all(mark.start < mark.end for line in shown_lines for mark in line.marks)


@given(report=REPORTS, width=st.integers(1, 200), color=st.booleans())
def test_every_report_can_be_shown(report: Report, width: int, color: bool) -> None:
    shown = render(report, "text", width=width, color=color)

    assert re.fullmatch(r"(\x1b\[1m)?whygrad: .*", shown.split("\n")[-1])
    for found in report.diagnostics:
        assert visible(" ".join(found.message.splitlines())).strip() in shown
