from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from whygrad.source import SourceSpan
from whygrad.source.holder import holder


def spans_of(tmp_path: Path, text: str, *calls: str) -> list[SourceSpan]:
    """Where each of these calls stands in the text."""
    file, source = tmp_path / "script.py", textwrap.dedent(text).strip("\n")
    file.write_text(source)
    found = []
    for call in calls:
        before, _, _ = source.partition(call)
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n") - 1
        found.append(SourceSpan(str(file), line, column, line, column + len(call)))
    return found


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("w = make()", "w"),
        ("w: Any = make()", "w"),
        ("self.w = make()", "self.w"),
        ("a, b = other(), make()", "b"),
        ("pair = other(), make()", "pair[1]"),
        ("(a, b), c = (other(), make()), 1", "b"),
        ("rates['w'] = make()", "rates['w']"),
        ("table = {'w': make(), 'b': other()}", "table['w']"),
        ("ws = [make() for _ in range(3)]", "ws[2]"),
        ("for _ in x:\n    ws = [make() for _ in range(3)]", "ws[...]"),
        ("use(make())", None),
        ("a = b = make()", "a"),
        ("w = other(make())", None),
    ],
)
def test_a_value_is_called_by_the_name_that_holds_it(tmp_path: Path, text: str, name: str | None) -> None:
    assert holder(spans_of(tmp_path, text, "make()"), number=2) == name


def test_what_a_function_returns_is_called_by_the_name_that_its_caller_gives_it(tmp_path: Path) -> None:
    text = """
        def build():
            return make()
        w = build()
    """

    assert holder(spans_of(tmp_path, text, "make()", "build()\n".strip())[:1]) is None
    [inner] = spans_of(tmp_path, text, "make()")
    outer = SourceSpan(inner.file, 3, 4, 3, 11)
    assert holder([inner, outer]) == "w"
