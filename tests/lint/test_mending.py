"""What `--fix` writes: nothing else is touched, a second time changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from whygrad.cli.commands import parse
from whygrad.lint.files.mending import mended

HEAD = "import tensorflow as tf\nimport keras\n"


def after(tmp_path: Path, text: str, *, unsafe: bool = False) -> str:
    file = tmp_path / "program.py"
    file.write_bytes((HEAD + text).encode())
    made = mended(file, lambda _: True, unsafe=unsafe)
    assert made is not None
    made.write()
    again = mended(file, lambda _: True, unsafe=unsafe)
    assert again is not None
    assert not again.is_changed
    return file.read_bytes().decode().removeprefix(HEAD)


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        (
            "w = tf.Variable(1.0)\nwith tf.GradientTape() as t:  # once\n    a, b = w * w, w + 1.0\n"
            "t.gradient(a, w)\nt.gradient(b, w)\n",
            "w = tf.Variable(1.0)\nwith tf.GradientTape(persistent=True) as t:  # once\n    a, b = w * w, w + 1.0\n"
            "t.gradient(a, w)\nt.gradient(b, w)\n",
        ),
        (
            "x = tf.constant( [1.0] )\nwith tf.GradientTape() as t:\n    y = x * x  # square\nt.gradient(y, x)\n",
            "x = tf.constant( [1.0] )\nwith tf.GradientTape() as t:\n    t.watch(x)\n    y = x * x  # square\n"
            "t.gradient(y, x)\n",
        ),
        (
            "opt = keras.optimizers.Adam( lr = 0.1 )  # fast\n",
            "opt = keras.optimizers.Adam( learning_rate = 0.1 )  # fast\n",
        ),
        ("y = tf.log(2.0)\nz = tf.random_normal((2,))\n", "y = tf.math.log(2.0)\nz = tf.random.normal((2,))\n"),
        (
            "m = keras.metrics.Mean()\nm.reset_states()\n",
            "m = keras.metrics.Mean()\nm.reset_state()\n",
        ),
        (
            "w = tf.Variable(1.0)\nfor i in range(3):\n    with tf.GradientTape() as t:\n        y = w * w\n"
            "    w = w - 0.1 * t.gradient(y, w)\n",
            "w = tf.Variable(1.0)\nfor i in range(3):\n    with tf.GradientTape() as t:\n        y = w * w\n"
            "    w.assign(w - 0.1 * t.gradient(y, w))\n",
        ),
    ],
    ids=["persistent", "watch", "keyword", "renamed", "method", "assign"],
)
def test_a_safe_fix_changes_what_it_must_and_nothing_else(tmp_path: Path, before: str, wanted: str) -> None:
    assert after(tmp_path, before) == wanted
    assert after(tmp_path, before.replace("\n", "\r\n")) == wanted.replace("\n", "\r\n")


STOPPED = """a, b = tf.Variable(1.0), tf.Variable(2.0)
with tf.GradientTape() as tape:
    loss = tf.stop_gradient(a) * b
tape.gradient(loss, [a, b])
"""


def test_an_unsafe_fix_is_applied_on_request_only(tmp_path: Path) -> None:
    assert after(tmp_path, STOPPED) == STOPPED
    assert after(tmp_path, STOPPED, unsafe=True) == STOPPED.replace("tf.stop_gradient(a)", "a")


def test_a_finding_that_is_not_wanted_is_not_fixed(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(HEAD + STOPPED)
    made = mended(file, lambda each: each.rule != "stop-gradient", unsafe=True)

    assert made is not None
    assert not made.is_changed


def test_a_file_that_does_not_parse_is_left_as_it_is(tmp_path: Path) -> None:
    assert after(tmp_path, "x = (\n") == "x = (\n"


def test_the_diff_is_shown_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text("import keras\nkeras.optimizers.SGD(lr=1.0)\n")

    assert parse(["lint", "--no-cache", "--diff", "a.py"]) == 1

    assert capsys.readouterr().out == (
        "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n import keras\n"
        "-keras.optimizers.SGD(lr=1.0)\n+keras.optimizers.SGD(learning_rate=1.0)\n"
    )
    assert "lr=1.0" in Path("a.py").read_text()


def test_fixed_files_are_named_and_what_is_left_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text("import keras\nkeras.optimizers.SGD(lr=1.0)\n")

    assert parse(["lint", "--no-cache", "--fix", "a.py"]) == 0

    shown = capsys.readouterr()
    assert shown.err == "fixed a.py: write `learning_rate=`\n"
    assert shown.out == "whygrad: no problem found in 1 file\n"


def test_unsafe_fixes_alone_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert parse(["lint", "--unsafe-fixes", "."]) == 2
