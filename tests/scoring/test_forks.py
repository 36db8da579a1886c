"""What a fork leaves in its pipe, and what is made of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from score_gallery import trouble_of
from scoring.forks import STOPPED, Outcome, _outcome, _Running

SOURCE = Path(__file__).parents[2] / "src" / "whygrad"


def left(text: bytes) -> Outcome:
    return _outcome(_Running(Path("101_program.py"), process=1, text=bytearray(text)))


def test_a_report_is_read() -> None:
    assert left(b'{"diagnostics": []}').report == {"diagnostics": []}


@pytest.mark.parametrize(("text", "trouble"), [(b"", "no report"), (STOPPED, STOPPED.decode())])
def test_a_fork_without_a_report_does_not_pass(text: bytes, trouble: str) -> None:
    assert trouble_of(left(text)) == trouble


def test_the_words_for_a_failure_inside_are_those_that_are_printed() -> None:
    assert any(STOPPED.decode() in file.read_text(encoding="utf-8") for file in SOURCE.rglob("*.py"))
