"""Stretches of source, and how they are read back."""

from __future__ import annotations

import linecache
import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whygrad.source import (
    SourceSpan,
    is_on_disk,
    refresh_sources,
    shown_file,
    source_line,
    source_lines,
    source_text,
)

CODE = "x = 1\ny = tf.cast(\n    x,\n    tf.int32)\n"
KERNEL_CELL = "/somewhere/ipykernel_123/4567.py"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "train.py"
    path.write_text(CODE)
    return str(path)


def test_lines_come_without_their_ends(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_bytes(b"a\r\n\r\nb \n")

    assert source_lines(str(path)) == ("a", "", "b ")


@pytest.mark.parametrize("line", [0, -1, 5])
def test_a_line_that_is_not_there_is_none(file: str, line: int) -> None:
    assert source_line(file, line) is None


@pytest.mark.parametrize("name", ["gone.py", "<string>", "", "nu\0ll.py"])
def test_a_file_that_is_not_there_has_no_lines(name: str) -> None:
    assert source_lines(name) == ()
    assert source_text(SourceSpan(name, 1, 0, 1, 3)) is None


def test_a_file_that_was_missing_is_read_once_it_is_there(tmp_path: Path) -> None:
    path = tmp_path / "late.py"
    assert source_lines(str(path)) == ()

    path.write_text("x = 1\n")

    assert source_lines(str(path)) == ("x = 1",)


def test_an_edit_is_seen_only_after_a_refresh(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("before = 1\n")
    assert source_lines(str(path)) == ("before = 1",)

    path.write_text("afterwards = 1\n")

    assert source_lines(str(path)) == ("before = 1",)
    refresh_sources()
    assert source_lines(str(path)) == ("afterwards = 1",)


@pytest.mark.parametrize(
    ("span", "text"),
    [
        ((2, 4, 4, 13), "tf.cast( x, tf.int32)"),
        ((1, 0, 1, 1), "x"),
        ((3, None, None, None), "x,"),
        ((3, 4, None, None), "x,"),
    ],
)
def test_the_text_of_a_span_is_on_one_line(file: str, span: tuple[int, int, int, int], text: str) -> None:
    assert source_text(SourceSpan(file, *span)) == text


def test_a_span_contains_its_lines() -> None:
    span = SourceSpan("train.py", 2, 4, 4, 13)

    assert [line for line in range(6) if span.contains_line(line)] == [2, 3, 4]
    assert [line for line in range(6) if SourceSpan("train.py", 3).contains_line(line)] == [3]


@given(st.lists(st.builds(SourceSpan, st.sampled_from("ab"), st.integers(1, 3), *[st.none() | st.integers(1, 3)] * 3)))
def test_spans_can_be_sorted_whatever_is_unknown(spans: list[SourceSpan]) -> None:
    in_order = sorted(spans)
    spans.reverse()

    assert [(span.file, span.line) for span in in_order] == sorted((span.file, span.line) for span in spans)
    assert sorted(spans) == in_order


def test_a_path_is_shown_relative_only_below_the_working_directory(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(file).parent
    monkeypatch.chdir(folder)
    assert shown_file(file) == "train.py"
    assert shown_file("train.py") == "train.py"

    (folder / "sub").mkdir()
    monkeypatch.chdir(folder / "sub")
    assert shown_file(file) == file

    monkeypatch.chdir(folder.parent)
    assert shown_file(file) == os.path.join(folder.name, "train.py")


def test_a_folder_whose_name_begins_alike_is_not_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path / "run")

    assert shown_file(str(tmp_path / "running" / "train.py")) == str(tmp_path / "running" / "train.py")


def test_a_path_through_a_link_is_shown_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.chdir(tmp_path / "real")

    assert shown_file(str(tmp_path / "link" / "train.py")) == "train.py"


@pytest.mark.parametrize(
    ("file", "shown", "on_disk"),
    [
        ("<ipython-input-3-0123abcd>", "cell [3]", False),
        (KERNEL_CELL, "notebook cell", False),
        ("/tmp/ipython-input-3-1234567890.py", "cell [3]", False),  # as Colab names them
        ("/tmp/ipython-input-1234567890.py", "notebook cell", False),
        ("/somewhere/ipython-input-notes.py", "/somewhere/ipython-input-notes.py", True),
        ("<string>", "<string>", False),
        ("gone/train.py", "gone/train.py", True),
        ("/somewhere/ipykernel_notes/4567.py", "/somewhere/ipykernel_notes/4567.py", True),
    ],
)
def test_what_is_not_a_file_is_named_for_what_it_is(file: str, shown: str, on_disk: bool) -> None:
    assert shown_file(file) == shown
    assert is_on_disk(file) is on_disk


def test_a_running_ipython_is_asked_for_the_number_of_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    ipython = ModuleType("IPython")
    names = {KERNEL_CELL: ("Cell", "In[12]")}
    shell = SimpleNamespace(compile=SimpleNamespace(format_code_name=names.get))
    monkeypatch.setattr(ipython, "get_ipython", lambda: shell, raising=False)
    monkeypatch.setitem(sys.modules, "IPython", ipython)

    assert shown_file(KERNEL_CELL) == "cell [12]"
    assert shown_file(KERNEL_CELL.replace("4567", "89")) == "notebook cell"


def test_a_notebook_cell_is_read_from_where_python_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(linecache.cache, KERNEL_CELL, (6, None, ["x = 1\n"], KERNEL_CELL))

    assert source_line(KERNEL_CELL, 1) == "x = 1"


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes with a name")
def test_what_is_no_plain_file_is_not_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)  # to open it would wait for ever

    assert source_lines(str(pipe)) == ()
    assert source_lines("/dev/zero") == ()
    assert source_lines(str(tmp_path)) == ()
