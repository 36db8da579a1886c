"""Edits of a text leave all else as it was, whatever its line ends, blanks, letters and encoding."""

from __future__ import annotations

from pathlib import Path

import pytest

from whygrad.source import SourceSpan, file_text
from whygrad.source.editing import EditError, FileText, edited, read_source


def span(line: int, column: int, end_line: int, end_column: int) -> SourceSpan:
    return SourceSpan("train.py", line, column, end_line, end_column)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_stay_and_new_lines_end_alike(end: str) -> None:
    text = f"a = 1  # one{end}b = 2{end}"

    assert edited(text, [(span(2, 0, 2, 0), "c = 3\n")]) == f"a = 1  # one{end}c = 3{end}b = 2{end}"


def test_columns_count_characters_not_bytes() -> None:
    assert edited('x = "größe 🙂"; y = f(z)\n', [(span(1, 19, 1, 23), "g(z)")]) == 'x = "größe 🙂"; y = g(z)\n'


def test_tabs_and_form_feeds_are_no_line_ends() -> None:
    text = "if a:\n\tb = 1\x0c\n\tc = 2\n"

    assert edited(text, [(span(3, 1, 3, 2), "d")]) == "if a:\n\tb = 1\x0c\n\td = 2\n"


def test_an_edit_may_span_lines() -> None:
    assert edited("f(\n    a,  # first\n    b,\n)\n", [(span(1, 2, 4, 0), "c")]) == "f(c)\n"


def test_insertions_at_one_place_keep_their_order() -> None:
    assert edited("b\n", [(span(1, 0, 1, 0), "a"), (span(1, 0, 1, 0), "-"), (span(1, 0, 1, 1), "B")]) == "a-B\n"


def test_a_last_line_without_an_end_stays_so() -> None:
    assert edited("a\nb", [(span(2, 0, 2, 1), "c")]) == "a\nc"


def test_the_end_of_the_text_is_a_place() -> None:
    assert edited("a\n", [(span(2, 0, 2, 0), "b\n")]) == "a\nb\n"


@pytest.mark.parametrize(
    "spans",
    [
        [span(1, 0, 1, 3), span(1, 2, 1, 4)],
        [span(1, 0, 1, 9)],
        [span(4, 0, 4, 0)],
        [span(1, 3, 1, 1)],
        [SourceSpan("train.py", 1)],
    ],
)
def test_edits_that_overlap_or_lie_nowhere_are_refused(spans: list[SourceSpan]) -> None:
    with pytest.raises(EditError):
        edited("abcd\n", [(each, "x") for each in spans])


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("\ufeffx = 'ä'\r\n".encode(), "utf-8-sig"),
        ("# coding: latin-1\nx = 'ä'\n".encode("latin-1"), "iso-8859-1"),
    ],
)
def test_a_file_is_written_back_as_it_was_read(tmp_path: Path, data: bytes, encoding: str) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(data)

    found = read_source(str(file))

    assert found.encoding == encoding
    assert found.data == data


@pytest.mark.parametrize("text", ["a\r\nb\r\n", "a\nb", "a\rb\r\n", "", "\n"])
def test_a_file_matches_what_was_read_of_it(tmp_path: Path, text: str) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(text.encode())

    assert read_source(str(file)).matches(file_text(str(file)))
    assert not FileText(f"{text}#\n").matches(file_text(str(file)))
