"""Which files are read, in what form, and what is remembered of them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from whygrad.errors import UsageError
from whygrad.lint.files.cache import Cache, digest
from whygrad.lint.files.checking import check_bytes
from whygrad.lint.files.discovery import find_files
from whygrad.lint.files.project import check_file, check_files
from whygrad.lint.files.reading import LONGEST

BROKEN = """import tensorflow as tf
n = tf.Variable(3)
with tf.GradientTape() as tape:
    loss = tf.cast(n, tf.float32)
tape.gradient(loss, n)
"""


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def names(folder: Path, *exclude: str) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in find_files([str(folder)], exclude)]


def rules(data: bytes | str, file: str = "a.py") -> list[str]:
    return [each.rule for each in check_bytes(file, data.encode() if isinstance(data, str) else data).diagnostics]


def test_python_files_and_notebooks_below_a_folder_are_found(tmp_path: Path) -> None:
    write(tmp_path, {"b.py": "", "a/c.ipynb": "{}", "a/d.txt": "", ".venv/e.py": "", "__pycache__/f.py": ""})

    assert names(tmp_path) == ["a/c.ipynb", "b.py"]


def test_what_git_ignores_is_left_out(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            ".gitignore": "build/\n*.gen.py\n/top.py\n!kept.gen.py\n# comment\ndocs/**/old.py\n",
            **dict.fromkeys(["build/a.py", "x.gen.py", "kept.gen.py", "top.py", "in/top.py", "docs/a/b/old.py"], ""),
            "in/.gitignore": "secret.py\n",
            "in/secret.py": "",
        },
    )

    assert names(tmp_path) == ["in/top.py", "kept.gen.py"]


def test_files_of_an_excluded_name_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, {"tests/a.py": "", "b.py": "", "c_pb2.py": ""})

    assert names(tmp_path, "tests", "*_pb2.py") == ["b.py"]


def test_a_path_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no"):
        find_files([str(tmp_path / "nowhere")])


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"x = (\n", 1),
        (b"a = 1\nprint 'python 2'\n", 2),
        (b"x = 1\ny = '\xff\xfe'\n", 2),
        (b"x = 1\n\x00\n", 2),
        (b"x = " + b"(" * 5000 + b")" * 5000, 1),
        (b"x = " + b"-" * 100_000 + b"1", 1),
        (b"# coding: no-such-coding\n", 1),
        (b"\n" * (LONGEST + 1), 1),
    ],
    ids=["syntax", "python 2", "not utf-8", "null byte", "nested", "deep", "coding", "giant"],
)
def test_a_file_that_cannot_be_read_is_one_finding_with_a_place(data: bytes, line: int) -> None:
    (found,) = check_bytes("a.py", data).diagnostics

    assert found.rule == "unreadable-file"
    assert found.primary is not None
    assert found.primary.span.line == line


def test_a_line_of_ten_megabytes_is_read() -> None:
    assert rules(b"import tensorflow\nx = '" + b"a" * 10_000_000 + b"'\n") == []


def test_the_other_files_are_checked_all_the_same(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "x = (\n", "b.py": BROKEN})

    found = check_files(find_files([str(tmp_path)]), Cache(None))

    assert [[each.rule for each in one.diagnostics] for one in found.values()] == [
        ["unreadable-file"],
        ["int-variable"],
    ]


def test_a_file_that_is_taken_away_is_a_finding(tmp_path: Path) -> None:
    _, _, checked = check_file(tmp_path / "gone.py")

    assert [each.rule for each in checked.diagnostics] == ["unreadable-file"]


def notebook(*cells: str | list[str]) -> bytes:
    listed = [{"cell_type": "code", "source": each} for each in cells]
    return json.dumps({"cells": [{"cell_type": "markdown", "source": "# text"}, *listed]}).encode()


def test_a_finding_in_a_notebook_names_cell_and_line() -> None:
    first, rest = BROKEN.split("\n", 1)

    (found,) = check_bytes("a.ipynb", notebook([first + "\n", "%matplotlib inline\n", "!pip list"], rest)).diagnostics

    assert found.rule == "int-variable"
    assert found.primary is not None
    assert (found.primary.span.file, found.primary.span.line) == ("a.ipynb:cell 3", 1)


def test_magics_are_tolerated() -> None:
    cells = [
        "%%bash\nls | grep x",
        "%%time\nx = 1",
        "%%capture\n%pip install x",
        "x?",
        "files = !ls",
        "%timeit x\nif x:\n    %debug\n",
        "await x",
    ]

    assert rules(notebook(*cells), "a.ipynb") == []


def test_a_cell_that_does_not_parse_leaves_the_others_checked() -> None:
    assert rules(notebook("x = (", BROKEN), "a.ipynb") == ["int-variable", "unreadable-file"]


def test_a_notebook_that_is_none_is_a_finding() -> None:
    assert rules(b"[1, 2]", "a.ipynb") == rules(b"{", "a.ipynb") == ["unreadable-file"]


@pytest.mark.parametrize("word", ["", "[int-variable]", "[WL110]", "[WG110]", "[WL1]"])
def test_a_comment_silences_the_line(word: str) -> None:
    assert rules(BROKEN.replace("tf.Variable(3)", f"tf.Variable(3)  # whygrad: ignore{word}")) == []


def test_a_comment_for_another_rule_silences_nothing() -> None:
    assert rules(BROKEN.replace("tf.Variable(3)", "tf.Variable(3)  # whygrad: ignore[stop-gradient]")) == [
        "int-variable"
    ]


def test_a_code_of_lint_that_silences_nothing_is_reported() -> None:
    assert rules("x = 1  # whygrad: ignore[WL110]\n") == ["unused-ignore"]


def test_a_name_that_silences_nothing_may_be_meant_for_a_run() -> None:
    assert rules("x = 1  # whygrad: ignore[int-variable]\n") == []


def test_what_is_known_is_not_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path, {"a.py": BROKEN}) / "a.py"
    first = check_files([file], Cache(tmp_path))
    monkeypatch.setattr("whygrad.lint.files.checking.check_bytes", None)

    again = check_files([file], Cache(tmp_path))

    assert again[file].diagnostics == first[file].diagnostics
    os.utime(file, ns=(1, 1))  # another time, the same content
    assert check_files([file], Cache(tmp_path))[file] == again[file]


def test_a_changed_file_is_checked_again(tmp_path: Path) -> None:
    file = write(tmp_path, {"a.py": BROKEN}) / "a.py"
    check_files([file], Cache(tmp_path))
    file.write_text(BROKEN.replace("(3)", "(3.)"))

    assert check_files([file], Cache(tmp_path))[file].diagnostics == ()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"rules": 1}', "null"])
def test_a_cache_that_is_damaged_is_not_used(tmp_path: Path, text: str) -> None:
    write(tmp_path, {"lint.json": text})

    assert Cache(tmp_path).look_up(tmp_path / "a.py") is None


def test_the_content_decides() -> None:
    assert digest(b"a") != digest(b"b")
