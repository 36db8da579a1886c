"""`whygrad run` on scripts that train: what is said, where, and with which exit status."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from functional import warm
from functional.command import ENVIRONMENT, run, whygrad

pytestmark = pytest.mark.tensorflow

CUT = """\
import tensorflow as tf

w = tf.Variable(2.0, name="w")
b = tf.Variable(1.0, name="b")
with tf.GradientTape() as tape:
    loss = tf.stop_gradient(w * 3.0) + b
print("gradients:", tape.gradient(loss, [w, b])[0])
print("the script goes on")
"""
LONG = """\
import tensorflow as tf

w = tf.Variable(2.0, name="w")
b = tf.Variable(1.0, name="b")
for step in range(100):
    with tf.GradientTape() as tape:
        loss = tf.stop_gradient(w * 3.0) + b
    tape.gradient(loss, [w, b])
print("the script goes on")
"""
HEALTHY = CUT.replace("tf.stop_gradient(w * 3.0)", "w * 3.0")
# The frames of a hook are between the script and TensorFlow when this is raised.
CRASH = """\
import tensorflow as tf

w = tf.Variable(2.0, name="w")
with tf.GradientTape() as tape:
    loss = tf.stop_gradient(w * 3.0)
tape.gradient(loss, w)

def again():
    try:
        tape.gradient(loss, w)
    except RuntimeError as error:
        raise ValueError("twice") from error

again()
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    file = tmp_path / "train.py"
    file.write_text(CUT)
    return file


def ours(text: str) -> str:
    """Without what TensorFlow itself logs."""
    return text[text.index("error[") :] if "error[" in text else ""


def test_text_goes_to_stderr_and_stdout_stays_the_scripts(script: Path) -> None:
    done = whygrad(script.parent, "run", "train.py")

    assert done.status == 0
    assert done.out == "gradients: None\nthe script goes on\n"
    assert re.search(r"^error\[WG\d{3}\]: .*`w`", done.err, re.MULTILINE)
    assert " --> train.py:6:12\n" in done.err
    assert done.err.endswith("\nwhygrad: 1 error\nwhygrad: a fix can be tried: whygrad fix train.py\n")


def test_json_is_all_there_is_on_standard_output(script: Path) -> None:
    done = warm.whygrad(script.parent, "run", "--output-format", "json", "train.py")

    [diagnostic] = json.loads(done.out)["diagnostics"]
    assert (diagnostic["rule"], diagnostic["location"]["line"]) == ("stop-gradient", 6)
    assert done.err.endswith("gradients: None\nthe script goes on\n")
    assert "whygrad:" not in done.err


def test_fail_on_turns_success_into_1_and_writes_the_file(script: Path) -> None:
    done = warm.whygrad(
        script.parent, "run", "--fail-on=error", "--output-format=sarif", "--output-file=report.sarif", "train.py"
    )

    assert done.status == 1
    [result] = json.loads((script.parent / "report.sarif").read_text())["runs"][0]["results"]
    assert result["level"] == "error"


@pytest.mark.parametrize("way", ["option", "comment", "pyproject"])
def test_rule_can_be_silenced(way: str, script: Path) -> None:
    options = ["--fail-on=warning"]
    if way == "option":
        options += ["--ignore", "stop-gradient"]
    elif way == "comment":
        script.write_text(CUT.replace(" + b\n", " + b  # whygrad: ignore[stop-gradient]\n"))
    else:
        (script.parent / "pyproject.toml").write_text('[tool.whygrad]\nselect = ["WG1"]\nignore = ["stop-gradient"]')

    done = warm.whygrad(script.parent, "run", *options, "train.py")

    assert (done.status, ours(done.err)) == (0, "")


def test_quiet_says_nothing_about_a_healthy_script(script: Path) -> None:
    script.write_text(HEALTHY)

    done = warm.whygrad(script.parent, "run", "--quiet", "--fail-on=warning", "train.py")

    assert done.status == 0
    assert "whygrad:" not in done.err


def test_traceback_is_pythons_own_and_the_report_follows_it(script: Path) -> None:
    script.write_text(CRASH)
    start = "Traceback (most recent call last)"

    expected = run([sys.executable, "train.py"], script.parent)
    done = whygrad(script.parent, "run", "--fail-on", "error", "train.py")

    traceback = expected.err[expected.err.index(start) :]
    assert done.status == expected.status == 1
    assert done.err[done.err.index(start) :].startswith(traceback + "error[")


def test_what_is_certain_is_shown_while_a_long_script_runs_and_not_again(script: Path) -> None:
    script.write_text(LONG)

    shown = under_a_terminal(script.parent, "run", "train.py")

    assert re.findall(r"error\[WG\d{3}\]|the script goes on|whygrad: 1 error", shown) == [
        re.search(r"error\[WG\d{3}\]", shown)[0],  # type: ignore[index]
        "the script goes on",
        "whygrad: 1 error",
    ]
    assert "\x1b[" in shown


def under_a_terminal(folder: Path, *words: str) -> str:
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "whygrad", *words]
    with subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stdin=slave, stdout=slave, stderr=slave):
        os.close(slave)
        parts = []
        while part := _read(master):
            parts.append(part)
    os.close(master)
    return b"".join(parts).decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux tells that the other end is closed
        return b""


REPLICAS = """\
import keras
import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

class Rounded(keras.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=(4,))

    def call(self, x):
        return x * tf.round(self.scale)

with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
    model = keras.Sequential([keras.layers.Input((4,)), Rounded(), keras.layers.Dense(1)])
    model.compile("adam", "mse")
x = np.ones((32, 4), "float32")
model.fit(x, x[:, :1], batch_size=8, epochs=2, verbose=0)
"""


def test_replicas_of_a_strategy_count_as_one_program(script: Path) -> None:
    script.write_text(REPLICAS)

    done = warm.whygrad(script.parent, "run", "train.py")

    assert done.status == 0
    assert re.findall(r"(?:error|warning)\[WG\d{3}\]|--> train.py:\d+", done.err) == ["error[WG101]", "--> train.py:13"]
    assert "internal error" not in done.err
