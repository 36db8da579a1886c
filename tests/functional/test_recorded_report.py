"""`whygrad run --record`: the report and the graphs are kept for `whygrad ui`, also beside the numbers of a Monitor."""

from __future__ import annotations

from pathlib import Path

import pytest

from functional.warm import whygrad
from whygrad.graph import Recording
from whygrad.graph.codec import load
from whygrad.report.page.why import Ways
from whygrad.store import find_run, list_runs

pytestmark = pytest.mark.tensorflow

CUT = """\
import tensorflow as tf

w = tf.Variable(2.0, name="w")
with tf.GradientTape() as tape:
    loss = tf.square(tf.stop_gradient(w * 3.0))
tape.gradient(loss, [w])
"""
FIT = """\
import keras
import numpy as np
import whygrad

model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
model.fit(np.ones((8, 2)), np.ones((8, 1)), batch_size=4, callbacks=[whygrad.Monitor("fit")], verbose=0)
"""


def test_the_recording_is_kept_and_its_ways_can_be_drawn(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(CUT)

    done = whygrad(tmp_path, "run", "--record", "train.py")

    assert done.status == 0
    run = find_run("latest", tmp_path / ".whygrad")
    assert run.facts()["name"] == "train.py"
    assert [found.rule for found in run.diagnostics()] == ["stop-gradient"]
    text = run.document("recording")
    assert text is not None
    assert "is cut at" in Ways(load(text, Recording)).way(0, 0)["verdict"]


def test_without_the_flag_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(CUT)

    whygrad(tmp_path, "run", "train.py")

    assert not (tmp_path / ".whygrad").exists()


def test_a_monitored_run_gets_the_report_of_the_program_around_it(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FIT)

    whygrad(tmp_path, "run", "--record", "train.py")

    (header,) = list_runs(tmp_path / ".whygrad")
    assert (header.name, header.last_step) == ("fit", 1)
    assert find_run("latest", tmp_path / ".whygrad").documents() == {"recording", "report"}


def test_of_several_runs_none_gets_what_may_be_true_of_another(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FIT + FIT.partition("\n\n")[2])

    whygrad(tmp_path, "run", "--record", "train.py")

    kept = {run.name: find_run(run.id, tmp_path / ".whygrad").documents() for run in list_runs(tmp_path / ".whygrad")}
    assert kept == {"fit": set(), "train.py": {"recording", "report"}}


def test_the_report_is_one_page(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(CUT)

    whygrad(tmp_path, "run", "--output-format", "html", "--output-file", "report.html", "train.py")

    page = (tmp_path / "report.html").read_text()
    assert "way/0/0" in page
    assert "Content-Security-Policy" in page
