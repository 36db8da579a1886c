"""The cells of a notebook are one module: what one defines, the others use."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable

import pytest

from whygrad.fixes.rewriting import deleted, inserted_after
from whygrad.graph.sources import texts_at
from whygrad.source import SourceSpan, source_text, texts_of
from whygrad.source.module import function_around, in_one_function, located, module_of
from whygrad.source.naming import callee, statement_that_makes
from whygrad.source.slicing import exits, feeding_lines

Run = Callable[..., list[str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Cells that ran one after another; their names, as IPython gives them."""

    def cells(*texts: str) -> list[str]:
        names = []
        for number, text in enumerate(texts, 1):
            names.append(f"<ipython-input-{number}-{abs(hash(text))}>")
            lines = text.splitlines(keepends=True)
            monkeypatch.setitem(linecache.cache, names[-1], (len(text), None, lines, names[-1]))
        return names

    return cells


def spot(cell: str, line: int, text: str, piece: str) -> SourceSpan:
    return SourceSpan(cell, line, text.index(piece), line, text.index(piece) + len(piece))


def test_a_way_out_is_found_in_another_cell_than_what_comes_of_it(run: Run) -> None:
    use = "y = use(z)\n"
    _, compute, last = run("import numpy as np\n", "x = f()\n\nz = np.mean(x)\n", use)
    (way_out,) = exits(spot(last, 1, use, "use(z)"))

    assert (way_out.how, source_text(way_out.span)) == ("np.mean()", "np.mean(x)")
    assert way_out.span.file == compute
    assert way_out.feeding == ((compute, 1), (compute, 3))  # in the order of the notebook
    assert feeding_lines(spot(last, 1, use, "use(z)")) == {(compute, 1), (compute, 3), (last, 1)}


def test_a_function_is_followed_into_the_cell_that_defines_it(run: Run) -> None:
    use = "y = f(1)\n"
    first, last = run("def f(t):\n    s = t.numpy()\n    return s\n", use)

    assert [way_out.span.file for way_out in exits(spot(last, 1, use, "f(1)"))] == [first]
    assert statement_that_makes(last, "y") == SourceSpan(last, 1, 0, 1, 8)


def test_equal_lines_of_two_cells_are_two_places(run: Run) -> None:
    text = "a = f(b)\n"
    first, last = run(f"def inner():\n    {text}", text)

    assert callee(spot(last, 1, text, "f(b)")) == "f"
    assert function_around(SourceSpan(first, 2, 8, 2, 12)) == "inner"
    assert function_around(spot(last, 1, text, "f(b)")) is None
    assert not in_one_function(SourceSpan(first, 2, 8, 2, 12), spot(last, 1, text, "f(b)"))


def test_two_cells_own_code_is_one_scope(run: Run) -> None:
    text = "a = f(b)\n"
    first, last = run(text, "c = 1\n" + text)

    assert in_one_function(spot(first, 1, text, "f(b)"), spot(last, 2, text, "f(b)"))


def test_a_cell_that_was_edited_and_run_again_stands_in_for_its_first_text(run: Run) -> None:
    use = "y = f(x)\n"
    old, _, last = run("def f(t):\n    return t.numpy()\n", "def f(t):\n    return t\n", use)

    assert exits(spot(last, 1, use, "f(x)")) == []
    assert function_around(SourceSpan(old, 2, 4, 2, 20)) == "f"  # what ran in it is still shown


def test_a_cell_that_is_no_python_is_passed_over(run: Run) -> None:
    use = "y = np.mean(x)\n"
    _, _, last = run("import numpy as np\n", "this is : no python\n", use)

    assert [way_out.how for way_out in exits(spot(last, 1, use, "np.mean(x)"))] == ["np.mean()"]
    assert module_of("<ipython-input-2-unknown>") is None


def test_edits_at_the_end_of_a_cell_stay_in_it(run: Run) -> None:
    first, _ = run("a = 1\nb = 2\n", "c = 3\n")
    found = located(SourceSpan(first, 2, 0, 2, 5))

    assert found is not None
    assert isinstance(found[1], ast.stmt)
    added, gone = inserted_after(found[0], found[1], "more = 1"), deleted(found[0], found[1])
    assert (added.span, added.text) == (SourceSpan(first, 2, 5, 2, 5), "\nmore = 1")
    assert (gone.span, gone.text) == (SourceSpan(first, 2, 0, 2, 5), "")


def test_a_recording_of_a_notebook_holds_all_cells_in_their_order(run: Run) -> None:
    use = "y = use(np.mean(x))\n"
    first, last = run("import numpy as np\n", use)
    texts = texts_at([SourceSpan(last, 1)])
    linecache.cache.pop(first), linecache.cache.pop(last)

    assert list(texts) == [first, last]
    with texts_of(texts):
        assert [way_out.how for way_out in exits(spot(last, 1, use, "use(np.mean(x))"))] == ["np.mean()"]
