"""The values that the expression which raised was given, read from its frames without running anything."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest

from whygrad.source.operands import operands, without_body
from whygrad.source.position import Position, span_of

Run = Callable[[str], dict[str, object]]


@pytest.fixture
def raised_in(tmp_path: Path) -> Run:
    def run(text: str) -> dict[str, object]:
        file = tmp_path / "script.py"
        file.write_text(textwrap.dedent(text))
        names: dict[str, Any] = {"holder": SimpleNamespace(a=[1, 2]), "table": {"k": 3}}
        try:
            exec(compile(file.read_text(), str(file), "exec"), names)
        except Exception:
            step, frames = sys.exc_info()[2], list[FrameType]()
            while step is not None:
                frames, last = [step.tb_frame, *frames], step
                step = step.tb_next
        span = span_of(Position(last.tb_frame.f_code, last.tb_lasti, str(file)))
        return dict(operands(without_body(span), frames))

    return run


def test_names_attributes_elements_and_lists_have_their_values(raised_in: Run) -> None:
    found = raised_in("x = 'text'\n[x, 1] + holder.a[0] + table['k']")

    assert found["x"] == "text"
    assert found["[x, 1]"] == ["text", 1]
    assert found["holder.a"] == [1, 2]
    assert found["holder.a[0]"] == 1


def test_a_comprehension_knows_the_names_of_the_function_around_it(raised_in: Run) -> None:
    found = raised_in("""
        def add(total, new):
            return [a + b for a, b in zip(total, new, strict=True)]
        add([1], [1, 2])
    """)

    assert (found["total"], found["new"]) == ([1], [1, 2])


def test_of_a_loop_only_what_it_goes_through_counts(raised_in: Run) -> None:
    assert "unused" not in raised_in("""
        unused = 1
        for a, b in zip([1], [1, 2], strict=True):
            print(unused)
    """)


def test_a_property_is_not_asked(raised_in: Run) -> None:
    found = raised_in("""
        class Odd:
            @property
            def value(self):
                raise AssertionError("asked")
        odd = Odd()
        odd + odd.value.other if False else odd + 1
    """)

    assert "odd.value" not in found
