"""Fixes in notebooks: the lines of a cell change, all else stays byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from whygrad.cli.commands import parse
from whygrad.lint.files.checking import check_bytes
from whygrad.lint.files.mending import mended
from whygrad.lint.files.notebook import read_notebook

TAPE = ["with tf.GradientTape() as t:  # once\n", "    a, b = w * w, w + 1.0"]


def notebook(*cells: object, **extra: object) -> dict[str, object]:
    made = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": source} for source in cells]
    return {"cells": [{"cell_type": "markdown", "source": ["# Tapes \u00e9\n"]}, *made], "nbformat": 4, **extra}


def fixed(tmp_path: Path, text: str, *, unsafe: bool = False) -> str:
    file = tmp_path / "program.ipynb"
    file.write_bytes(text.encode())
    made = mended(file, lambda _: True, unsafe=unsafe)
    assert made is not None
    made.write()
    again = mended(file, lambda _: True, unsafe=unsafe)
    assert again is not None
    assert not again.is_changed
    return file.read_bytes().decode()


CELLS = (
    ["%matplotlib inline\n", "!pip list\n", "import tensorflow as tf\n", "w = tf.Variable(1.0)  # caf\u00e9\n"],
    TAPE,
    ["t.gradient(a, w)\n", "t.gradient(b, w)"],
)


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_only_the_line_that_a_fix_changes_is_written_anew(tmp_path: Path, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(notebook(*CELLS), indent=indent, ensure_ascii=ascii_only) + "\n"

    assert fixed(tmp_path, text) == text.replace("GradientTape()", "GradientTape(persistent=True)")


def test_a_cell_that_is_one_string_keeps_the_escapes_of_its_other_lines(tmp_path: Path) -> None:
    joined = ["".join(cell) for cell in CELLS]
    text = json.dumps(notebook(*joined)).replace("once", "o\\u006ece \\/").replace("\\u006ece", "n\\u0063e")
    wanted = text.replace("GradientTape()", "GradientTape(persistent=True)").replace("n\\u0063e \\/", "nce /")

    assert fixed(tmp_path, text) == wanted


def test_lines_that_are_added_and_removed_are_written_as_their_neighbours_are(tmp_path: Path) -> None:
    cells = (
        ["import tensorflow as tf\n", "x = tf.constant([1.0])"],
        ["with tf.GradientTape() as t:\n", "    y = x * x\n", "t.gradient(y, x)\n"],
    )
    text = json.dumps(notebook(*cells), indent=1)

    wanted = [cells[0], [cells[1][0], "    t.watch(x)\n", *cells[1][1:]]]

    assert fixed(tmp_path, text) == json.dumps(notebook(*wanted), indent=1)


@pytest.mark.parametrize("first", ["%%time\n", "%%capture out\n"])
def test_a_cell_that_begins_with_a_magic_is_fixed_below_it(tmp_path: Path, first: str) -> None:
    text = json.dumps(notebook(CELLS[0], [first, *TAPE], CELLS[2]), indent=1)

    assert fixed(tmp_path, text) == text.replace("GradientTape()", "GradientTape(persistent=True)")


def test_a_cell_that_does_not_parse_stays_and_the_others_are_fixed(tmp_path: Path) -> None:
    text = json.dumps(notebook(["x = (\n"], *CELLS), indent=1)

    assert fixed(tmp_path, text) == text.replace("GradientTape()", "GradientTape(persistent=True)")


def test_a_notebook_of_the_third_format_is_fixed_too(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "input": list(cell), "language": "python"} for cell in CELLS]
    text = json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]}, indent=1)

    assert fixed(tmp_path, text) == text.replace("GradientTape()", "GradientTape(persistent=True)")


def test_what_is_no_notebook_stays_as_it_is(tmp_path: Path) -> None:
    for text in ("", "{", "[]", '{"cells": 3}', '{"cells": [{"cell_type": "code"}]}'):
        assert fixed(tmp_path, text) == text


def test_a_line_at_the_end_of_a_cell_is_moved(tmp_path: Path) -> None:
    cells = (
        ["import tensorflow as tf\n", "x = tf.constant(2.0)\n"],
        ["with tf.GradientTape() as t:\n", "    y = x * x\n", "    t.watch(x)"],
        ["t.gradient(y, x)"],
    )

    changed = json.loads(fixed(tmp_path, json.dumps(notebook(*cells))))

    assert [cell["source"] for cell in changed["cells"][1:]] == [
        cells[0],
        ["with tf.GradientTape() as t:\n", "    t.watch(x)\n", "    y = x * x\n"],
        cells[2],
    ]


def test_a_block_is_not_torn_over_two_cells(tmp_path: Path) -> None:
    cells = (
        ["import tensorflow as tf\n", "w = tf.Variable(2.0)\n", "y = w * w"],
        ["with tf.GradientTape() as t:\n", "    loss = y + 1.0\n", "t.gradient(loss, w)"],
    )
    text = json.dumps(notebook(*cells))

    assert fixed(tmp_path, text, unsafe=True) == text
    assert [each.fixes for each in check_bytes("a.ipynb", text.encode()).diagnostics] == [()]


def test_the_diff_names_the_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = json.dumps(notebook(["import keras\n", "keras.optimizers.SGD(lr=1.0)"]))
    Path("a.ipynb").write_text(text)

    assert parse(["lint", "--no-cache", "--diff", "a.ipynb"]) == 1

    assert capsys.readouterr().out == (
        "--- a/a.ipynb:cell 2\n+++ b/a.ipynb:cell 2\n@@ -1,2 +1,2 @@\n import keras\n"
        "-keras.optimizers.SGD(lr=1.0)\n+keras.optimizers.SGD(learning_rate=1.0)\n"
    )
    assert Path("a.ipynb").read_text() == text


def test_cells_are_found_whatever_stands_around_them() -> None:
    text = ' { "metadata" : {"cells": [1]} , "cells":[ { "source" :"a\\\\nb\\nc" , "cell_type":"code" } ] }'

    assert [cell.code for cell in read_notebook(text.encode()).cells()] == ["a\\nb\nc"]
