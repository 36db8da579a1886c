"""Where code is: whose file it is, and the exact expression a frame stands at."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from types import CodeType, FrameType

import pytest

import whygrad.backends  # noqa: F401  its table says which packages are a framework, before one is loaded
from whygrad.source import SourceSpan, position, source_text
from whygrad.source.position import (
    CodeOwner,
    add_machinery,
    file_owner,
    in_one_scope,
    position_in,
    span_of,
    user_frame,
    user_frames_around,
)


@pytest.mark.parametrize(
    ("file", "owner"),
    [
        ("/home/me/project/train.py", CodeOwner.USER),
        ("/home/me/project/.venv/lib/python3.11/site-packages/tensorflow/python/ops.py", CodeOwner.MACHINERY),
        ("/home/me/project/.venv/lib/python3.11/site-packages/somebody/layers.py", CodeOwner.LIBRARY),
        (f"{sysconfig.get_path('stdlib')}/functools.py", CodeOwner.MACHINERY),
        ("<frozen importlib._bootstrap>", CodeOwner.MACHINERY),
        ("<stdin>", CodeOwner.USER),
        ("<ipython-input-3-abc>", CodeOwner.USER),
    ],
)
def test_every_file_has_an_owner(file: str, owner: CodeOwner) -> None:
    assert file_owner(file) is owner


def test_a_package_becomes_machinery_when_a_backend_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(position, "_machinery", set(position._machinery))
    file = "/home/me/lib/site-packages/newframe/ops.py"
    before = file_owner(file)
    add_machinery("newframe")
    after = file_owner(file)
    position._owners.clear()

    assert (before, after) == (CodeOwner.LIBRARY, CodeOwner.MACHINERY)


def test_all_cells_of_a_notebook_are_one_scope_and_a_function_is_another() -> None:
    def code(file: str, name: str = "<module>") -> CodeType:
        return compile("pass", file, "exec").replace(co_name=name)

    first, second = code("<ipython-input-1-a>"), code("/tmp/ipython-input-2-34.py", "<cell line: 3>")

    assert in_one_scope(first, second)
    assert in_one_scope(first, first)
    assert not in_one_scope(first, code("<ipython-input-1-a>", "step"))
    assert not in_one_scope(code("train.py"), code("data.py"))
    assert not in_one_scope(first, code("data.py"))


def frame_at_here(file: Path, program: str) -> tuple[FrameType, SourceSpan]:
    """The frame that calls `here()` in a program, and the expression it stands at."""
    caught: list[tuple[FrameType, SourceSpan]] = []

    def here(value: int) -> int:
        frame = sys._getframe(1)
        caught.append((frame, span_of(position_in(frame))))
        return value

    file.write_text(program)
    exec(compile(program, str(file), "exec"), {"here": here})
    return caught[0]


@pytest.mark.parametrize("program", ["a = 1 + here(2) * 3\n", "größe = 'ü漢'; b = here(2)\n"])
def test_a_position_is_the_very_expression_in_characters(tmp_path: Path, program: str) -> None:
    _, span = frame_at_here(tmp_path / "p.py", program)

    assert source_text(span) == "here(2)"


def test_the_users_frame_is_found_below_the_machinery(tmp_path: Path) -> None:
    file = tmp_path / "p.py"

    program = "import functools\ndef f(a, b):\n    return here(b)\nfunctools.reduce(f, [1, 2])\n"
    frame, _ = frame_at_here(file, program)
    found = user_frame(frame)

    assert found is not None
    assert (found.f_code.co_filename, found.f_lineno) == (str(file), 3)


PROGRAMS = (
    "here(1)\n",
    "def f():\n    here(1)\nf()\n",
    "import functools\ndef f(a, b):\n    here(b)\ndef g():\n    functools.reduce(f, [1, 2])\ng()\n",
    "def f(n):\n    return f(n - 1) if n else here(n)\nf(12)\n",
    "class A:\n    x = here(1)\n",
)


@pytest.mark.parametrize("most", [1, 3, 8])
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("owned", [True, False], ids=["a user's file", "a library"])
def test_the_frames_around_one_are_those_that_a_search_from_each_to_the_next_finds(
    tmp_path: Path, program: str, most: int, owned: bool
) -> None:
    folder = tmp_path if owned else tmp_path / "site-packages" / "library"
    folder.mkdir(parents=True, exist_ok=True)
    frame = user_frame(frame_at_here(folder / "p.py", program)[0])

    expected, outer = [], frame
    while outer is not None and outer.f_code.co_name != "<module>" and len(expected) < most:
        outer = user_frame(outer.f_back)
        expected += [] if outer is None else [outer]
    assert user_frames_around(frame, most) == expected
