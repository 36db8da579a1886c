"""Values that are bound to a loop's name and never read, told from the source alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from whygrad.source import source_text
from whygrad.source.forgotten_binding import forgotten_bindings

LOOP = "for t, w in pairs:\n    t = t + w\n"
FUNCTION = "def soft(targets):\n    for t in targets:\n        t = t * 0.5\n"


def found(tmp_path: Path, program: str) -> list[tuple[str, str]]:
    file = tmp_path / "p.py"
    file.write_text(program)
    return [(name, source_text(span) or "") for span, name in forgotten_bindings(str(file)).values()]


@pytest.mark.parametrize(
    ("program", "value"),
    [
        (LOOP, "t + w"),
        (FUNCTION, "t * 0.5"),
        ("for v in vs:\n    v -= 0.1\n", "v -= 0.1"),
        ("for v in vs:\n    print(v)\n    v = clip(v, -1, 1)\n", "clip(v, -1, 1)"),
        ("def halve(v):\n    v = v * 0.5\n", "v * 0.5"),
        ("for step in range(3):\n    for t, w in pairs:\n        if w:\n            t = t + w\n", "t + w"),
        (LOOP + "for t in others:\n    print(t)\n", "t + w"),
        (LOOP + "total = sum(t for t in others)\n", "t + w"),
        ("def other(t):\n    return t\n" + LOOP, "t + w"),
        ("def other():\n    t = 1\n    return t\n" + LOOP, "t + w"),
        ("t = make()\nprint(t)\n" + LOOP, "t + w"),
        ("def f(ts):\n    t = make()\n    print(t)\n    for t in ts:\n        t = t * 2\n", "t * 2"),
    ],
)
def test_a_value_that_nobody_reads_is_found(tmp_path: Path, program: str, value: str) -> None:
    assert [text for _, text in found(tmp_path, program)] == [value]


@pytest.mark.parametrize(
    "program",
    [
        LOOP + "    new.append(t)\n",
        LOOP + "print(t)\n",
        "for t in ts:\n    for _ in range(3):\n        print(t)\n        t = t * 2\n",
        "while True:\n    print(t)\n    t = t * 2\n",
        "t = t * 2\n",
        "for step in range(3):\n    print(t)\n    for t in ts:\n        t = t * 2\n",
        "def f(v):\n    v = v * 2\n    return v\n",
        "def f(v):\n    for _ in range(3):\n        v = v * 2\n",
        "def f(ts):\n    global t\n    for t in ts:\n        t = t * 2\n",
        "def f(v):\n    def g():\n        return v\n    v = v * 2\n    register(g)\n",
        "def f(t, ts):\n    for t in ts:\n        t = t * 2\n    return t\n",
        "for t in ts:\n    t.assign(t * 2)\n",
        "for t in ts:\n    t = 0\n",
        "for _, v in pairs:\n    _ = work(v)\n",
    ],
)
def test_a_value_that_may_be_read_is_not(tmp_path: Path, program: str) -> None:
    assert found(tmp_path, program) == []
