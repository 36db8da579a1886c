"""`whygrad fix` from the command line to the files of a project."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from functional.command import ENVIRONMENT, whygrad

pytestmark = pytest.mark.tensorflow

# A project of two files, one with CRLF, tabs and letters beyond ASCII; the bug is in the imported one.
MAIN = """\
import tensorflow as tf
from part import penalty

w = tf.Variable([1.0, 2.0], name="w")
for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.constant(2.0) * penalty(w)
    [g] = tape.gradient(loss, [w])
    w.assign_sub(0.1 * g)
"""
PART = (
    "import numpy as np\r\n\r\n\r\ndef penalty(größe):\r\n\t# Länge\r\n\treturn np.sqrt(\r\n"
    "\t\tnp.sum(größe.numpy() ** 2),  # ß\r\n\t)\r\n"
)
BROKEN = """\
import tensorflow as tf

w = tf.Variable(2.0, name="w")
y = w * 3.0  # too early
with tf.GradientTape() as tape:
    loss = tf.square(y - 1.0)
gradients = tape.gradient(loss, [w])
open("written.txt", "a").write("x")
"""
HEALTHY = BROKEN.replace("y = w * 3.0  # too early\n", "").replace("    loss", "    y = w * 3.0\n    loss")


def project(folder: Path, **files: str) -> dict[str, bytes]:
    for name, text in files.items():
        (folder / f"{name}.py").write_bytes(text.encode())
    return content(folder)


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_fix_of_an_imported_module_is_verified_and_written_when_asked(tmp_path: Path) -> None:
    project(tmp_path, main=MAIN, part=PART)

    applied = whygrad(tmp_path, "fix", "--apply", "main.py")
    assert applied.status == 0, applied.err
    assert "\nverified:" in applied.out
    assert "+\treturn tf.sqrt(" in applied.out
    changed = (tmp_path / "part.py").read_bytes().decode()
    assert changed == (
        "import numpy as np\r\nimport tensorflow as tf\r\n\r\n\r\ndef penalty(größe):\r\n\t# Länge\r\n"
        "\treturn tf.sqrt(\r\n\t\ttf.reduce_sum(größe ** 2),  # ß\r\n\t)\r\n"
    )
    after = content(tmp_path)

    again = whygrad(tmp_path, "fix", "--apply", "main.py")
    assert again.status == 0
    assert "nothing to fix" in again.err
    assert content(tmp_path) == after


def test_a_healthy_program_gets_no_fix_and_is_run_once(tmp_path: Path) -> None:
    project(tmp_path, train=HEALTHY)

    done = whygrad(tmp_path, "fix", "train.py")

    assert (done.status, done.out) == (0, "")
    assert "nothing to fix" in done.err
    assert (tmp_path / "written.txt").read_text() == "x"


def test_json_is_one_document_and_a_scratch_folder_takes_what_is_written(tmp_path: Path) -> None:
    before = project(tmp_path, train=BROKEN)

    done = whygrad(tmp_path, "fix", "--scratch", "--output-format", "json", "train.py")

    answer = json.loads(done.out)
    [fix] = answer["fixes"]
    assert fix["verified"] is True
    assert fix["changes"][0]["edits"][0]["file"] == str(tmp_path / "train.py")
    assert answer["left"] == []
    assert "+    y = w * 3.0  # too early" in fix["diff"]
    assert content(tmp_path) == before


def test_what_does_not_help_is_not_called_verified(tmp_path: Path) -> None:
    # Assertions belong to the program: one that holds only with the bug makes the changed program fail.
    before = project(tmp_path, train=BROKEN + "assert gradients == [None]\n")

    done = whygrad(tmp_path, "fix", "--apply", "train.py")

    assert done.status == 1
    assert "not verified: the changed program ended with AssertionError" in done.out
    assert "\nverified" not in done.out
    assert content(tmp_path)["train.py"] == before["train.py"]


def test_a_long_program_is_stopped_when_it_has_shown_enough_and_not_written_to_unless_asked(tmp_path: Path) -> None:
    loop = BROKEN.replace('open("written.txt", "a").write("x")\n', "")
    head, body = loop.split("y = w", 1)
    body = "".join(f"    {line}\n" for line in f"y = w{body}".splitlines())
    before = project(tmp_path, train=f"import time\n{head}while True:\n{body}    time.sleep(0.01)\n")

    done = whygrad(tmp_path, "fix", "train.py")

    assert done.status == 0, done.err
    assert "\nverified:" in done.out
    assert "the program was stopped after enough steps as before (10 steps)" in done.out
    assert content(tmp_path) == before


# The second time, when a fix is tried, it goes on for ever and says so.
ALIVE = """\
import os, time
def say(word):
    with open(os.environ["ALIVE"], "a") as file:
        print(word, file=file)
say("started")
while open(os.environ["ALIVE"]).read().count("started") > 1:
    say("alive")
    time.sleep(0.1)
"""


def test_a_kill_while_a_fix_is_tried_leaves_the_files_as_they_were(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    before = project(tmp_path, train=ALIVE + BROKEN.replace('open("written.txt", "a").write("x")\n', ""))
    said = tmp_path_factory.mktemp("elsewhere") / "said"
    command = [sys.executable, "-m", "whygrad", "fix", "--apply", "train.py"]
    environment = {**ENVIRONMENT, "ALIVE": str(said)}
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL, start_new_session=True
    )
    while not said.exists() or "alive" not in said.read_text():
        assert process.poll() is None
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()

    assert content(tmp_path) == before
    time.sleep(3)  # nobody waits for the run any more: it ends by itself
    last = said.read_text()
    time.sleep(1)
    assert said.read_text() == last


def test_interactive_writes_what_was_said_yes_to_and_nothing_else(tmp_path: Path) -> None:
    two = BROKEN.replace("y = w", 'v = tf.Variable(3.4, name="v")\ny = w', 1).replace(
        "y - 1.0)", "y - tf.round(v * 2.0))"
    )
    project(tmp_path, train=two.replace("[w])", "[w, v])").replace('open("written.txt", "a").write("x")\n', ""))
    command = [sys.executable, "-m", "whygrad", "fix", "--interactive", "train.py"]
    typed, terminal = pty.openpty()
    os.write(typed, b"y\nn\n")
    done = subprocess.run(
        command, cwd=tmp_path, env=ENVIRONMENT, stdin=terminal, capture_output=True, text=True, timeout=300, check=False
    )
    os.close(typed)
    os.close(terminal)

    text = (tmp_path / "train.py").read_text()
    assert done.stderr.count("write this fix? [y/N]") == 2, done.stderr
    assert done.stdout.count("\nverified:") == 2
    assert "    y = w * 3.0  # too early\n    loss = tf.square(y - tf.round(v * 2.0))" in text
    assert done.returncode == 1
    assert "1 finding left" in done.stderr


def test_interactive_needs_a_terminal(tmp_path: Path) -> None:
    before = project(tmp_path, train=BROKEN)

    done = whygrad(tmp_path, "fix", "--interactive", "train.py")

    assert done.status == 2
    assert "--interactive needs a terminal" in done.err
    assert content(tmp_path) == before


def test_a_program_that_cannot_start_is_wrong_usage(tmp_path: Path) -> None:
    project(tmp_path, train="def (")

    assert whygrad(tmp_path, "fix", "nowhere.py").status == 2
    done = whygrad(tmp_path, "fix", "train.py")
    assert done.status == 2
    assert "SyntaxError" in done.err
