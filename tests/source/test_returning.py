"""Which `return` of a function a reader has to look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from whygrad.source.naming import return_of_none

SCRIPT = """\
def outer(x):
    def back(upstream):
        if upstream is None:
            return None, upstream
        inner = lambda: None
        return upstream, 1.0

    return x, back


short = lambda upstream: (upstream, None)
plain = outer
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    file = tmp_path / "script.py"
    file.write_text(SCRIPT)
    return str(file)


def test_the_return_with_a_none_in_it_comes_first(script: str) -> None:
    found = return_of_none(script, 2)

    assert found is not None
    assert found.line == 4


def test_else_the_last_one_of_the_function_itself(script: str) -> None:
    found = return_of_none(script, 1)

    assert found is not None
    assert found.line == 8


def test_a_lambda_returns_its_body(script: str) -> None:
    found = return_of_none(script, 11)

    assert found is not None
    assert (found.line, found.column) == (11, 25)


def test_a_function_whose_source_is_gone_has_none(script: str) -> None:
    assert return_of_none(script, 99) is None
    assert return_of_none(f"{script}.gone", 1) is None
