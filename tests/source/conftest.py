"""Places in programs that tests write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from whygrad.source import SourceSpan

Spot = Callable[[str, str], SourceSpan]


@pytest.fixture
def spot(tmp_path: Path) -> Spot:
    """The span of a piece of text in a program that is written to a file."""

    def find(program: str, piece: str) -> SourceSpan:
        file = tmp_path / f"p{abs(hash(program))}.py"
        file.write_text(program)
        for number, line in enumerate(program.splitlines(), 1):
            if piece in line:
                column = line.index(piece)
                return SourceSpan(str(file), number, column, number, column + len(piece))
        raise LookupError(piece)

    return find
