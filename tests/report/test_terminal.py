"""What the place that a report is written to can show."""

from __future__ import annotations

import io
import os
import pty
import sys
from collections.abc import Iterator
from typing import TextIO

import pytest

from whygrad.report import terminal_width, wants_color, write_report


@pytest.fixture(autouse=True)
def _no_wishes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")


@pytest.fixture
def terminal() -> Iterator[TextIO]:
    """A real one, 63 columns wide."""
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 63, 0, 0))
    with os.fdopen(theirs, "w") as stream:
        yield stream
    os.close(ours)


def test_a_terminal_has_colour_and_a_width(terminal: TextIO) -> None:
    assert wants_color(terminal)
    assert terminal_width(terminal) == 63


def test_a_pipe_has_neither() -> None:
    assert not wants_color(io.StringIO())
    assert terminal_width(io.StringIO()) == 100


@pytest.mark.parametrize(
    ("wish", "on_terminal", "in_pipe"),
    [
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),  # the convention: empty means unset
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ({"TERM": "dumb"}, False, False),
    ],
)
def test_the_environment_has_the_last_word(
    terminal: TextIO, monkeypatch: pytest.MonkeyPatch, wish: dict[str, str], on_terminal: bool, in_pipe: bool
) -> None:
    for name, value in wish.items():
        monkeypatch.setenv(name, value)

    assert wants_color(terminal) is on_terminal
    assert wants_color(io.StringIO()) is in_pipe


@pytest.mark.parametrize(("columns", "width"), [("40", 40), ("0", 63), ("wide", 63), ("", 63)])
def test_columns_overrules_the_terminal(
    terminal: TextIO, monkeypatch: pytest.MonkeyPatch, columns: str, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", columns)

    assert terminal_width(terminal) == width


def test_a_closed_stream_has_no_colour() -> None:
    stream = io.StringIO()
    stream.close()

    assert not wants_color(stream)
    assert terminal_width(stream) == 100


@pytest.mark.parametrize(("encoding", "written"), [("ascii", b"\\u2026 ok\n"), ("utf-8", "… ok\n".encode())])
def test_what_an_encoding_lacks_is_escaped(encoding: str, written: bytes) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")

    write_report(stream, "… ok")

    assert raw.getvalue() == written


def test_a_stream_without_an_encoding_is_written_to() -> None:
    stream = io.StringIO()

    write_report(stream, "… ok")

    assert stream.getvalue() == "… ok\n"


def test_importing_the_report_imports_no_terminal_library() -> None:
    import subprocess

    code = "import sys, whygrad.report, whygrad.report.json; print('rich' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"
