"""Which `return` of a function a reader has to look at."""

from __future__ import annotations

from pathlib import Path

from whygrad.capture.returning import return_of_none

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


def test_the_return_with_a_none_in_it_comes_first(tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    file.write_text(SCRIPT)

    found = return_of_none(str(file), 2)

    assert found is not None
    assert found.line == 4


def test_else_the_last_one_of_the_function_itself(tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    file.write_text(SCRIPT)

    found = return_of_none(str(file), 1)

    assert found is not None
    assert found.line == 8


def test_a_lambda_returns_its_body(tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    file.write_text(SCRIPT)

    found = return_of_none(str(file), 11)

    assert found is not None
    assert (found.line, found.column) == (11, 25)


def test_a_function_whose_source_is_gone_has_none(tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    file.write_text(SCRIPT)

    assert return_of_none(str(file), 99) is None
    assert return_of_none(str(tmp_path / "gone.py"), 1) is None
