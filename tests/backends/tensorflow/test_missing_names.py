"""Each private name of TensorFlow is taken away in turn: one feature is off and says so, the rest works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# One process that has loaded TensorFlow, and a fork of it for each name, before whygrad meets TensorFlow.
DRIVER = """
import gc, json, os, runpy, sys, tempfile
import tensorflow as tf
import keras
from whygrad.backends.tensorflow import capability
from whygrad.rules import all_rules
from whygrad.watch import watch

PROGRAM = '''
import tensorflow as tf
import keras

w = tf.Variable([0.3, 0.9], name="w")
v = tf.Variable([0.1, 0.2], name="v")

def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.stop_gradient(w) * v)
    return tape.gradient(loss, [w, v])

step()
tf.function(step)()
model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.optimizer.build(model.trainable_variables)  # or else the step is traced twice
model.fit(tf.ones((4, 2)), tf.ones((4, 1)), verbose=0)
'''

def run(hidden):
    capability.hidden.update(hidden)
    errors = tempfile.TemporaryFile("w+")
    os.dup2(errors.fileno(), 2)
    file = os.path.join(tempfile.mkdtemp(), "program.py")
    open(file, "w").write(PROGRAM)
    with watch() as watched:
        runpy.run_path(file)
    errors.seek(0)
    said = [line for line in errors.read().splitlines() if line.startswith("whygrad")]
    return {"rules": [each.rule for each in watched.report().diagnostics], "said": said, "names": names()}

def names():
    return {name.path: name.loss.name for name in capability.names.values()}

def in_fork(hidden):
    out, into = os.pipe()
    if os.fork() == 0:
        try:
            os.write(into, json.dumps(run(hidden)).encode())
        finally:
            os._exit(0)
    os.close(into)
    with os.fdopen(out) as answer:
        text = answer.read()
    os.wait()
    return json.loads(text) if text else None

all_rules()
gc.freeze()  # a fork need not look through all of this again
whole = in_fork(())
found = {"": whole}
for name in whole["names"]:
    found[name] = in_fork((name,))
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def answers() -> dict[str, dict[str, object]]:
    import json

    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run(
        [sys.executable, "-c", DRIVER], capture_output=True, text=True, env=environment, cwd=Path(__file__).parent
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, object]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.tensorflow
def test_with_every_name_there_nothing_is_said(answers: dict[str, dict[str, object]]) -> None:
    assert answers[""]["said"] == []
    assert "stop-gradient" in answers[""]["rules"]  # type: ignore[operator]


@pytest.mark.tensorflow
def test_a_missing_name_is_said_once_and_the_run_ends_well(answers: dict[str, dict[str, object]]) -> None:
    for name, answer in answers.items():
        if name:
            assert answer is not None, f"without {name} the program died"
            said = [line for line in answer["said"] if f"`{name.replace(':', '.')}`" in line]  # type: ignore[attr-defined]
            assert len(said) == 1, (name, answer["said"])
            assert not any("internal error" in line for line in answer["said"]), (name, answer["said"])  # type: ignore[attr-defined]


@pytest.mark.tensorflow
def test_without_a_name_the_other_features_work(answers: dict[str, dict[str, object]]) -> None:
    losses: dict[str, str] = answers[""]["names"]  # type: ignore[assignment]
    for name, loss in losses.items():
        if loss not in ("EVERYTHING", "FLOWS"):
            assert "stop-gradient" in answers[name]["rules"], name  # type: ignore[operator]
