"""`--raise-on` and `watch(raise_on=...)`: a run ends at the first certain finding, with the user's line last."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import pytest

import whygrad as wg
from functional.warm import whygrad
from whygrad.errors import GradientError, UsageError

pytestmark = pytest.mark.tensorflow

SCRIPT = """\
import tensorflow as tf
w = tf.Variable(2.0, name="w")
for step in range(50):
    y = w * 3.0
    with tf.GradientTape() as tape:
        loss = tf.square(y - 1.0)
    gradients = tape.gradient(loss, [w])
    print(step)
"""


def test_a_script_ends_at_the_first_step_with_the_diagnostic_and_its_own_line(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)

    done = whygrad(tmp_path, "run", "--raise-on", "error", "train.py")

    assert (done.status, done.out) == (1, "")
    shown = done.err[done.err.index("Traceback") :].splitlines()
    assert [line for line in shown if line.startswith("  File")] == [
        f'  File "{tmp_path}/train.py", line 7, in <module>'
    ]
    assert "error[WG105]: no gradient reaches `w`: `w * 3.0` ran while the tape was not recording" in shown
    assert done.err.count("error[WG105]") == 1


def missing(tf: Any, w: Any, **tape_options: Any) -> None:
    y = w * 3.0
    with tf.GradientTape(**tape_options) as tape:
        loss = tf.square(y - 1.0)
    tape.gradient(loss, [w])


def test_a_block_raises_in_the_call_that_asked(tf: Any) -> None:
    w = tf.Variable(2.0, name="w")

    with pytest.raises(GradientError, match="no gradient reaches `w`") as raised, wg.watch(raise_on="error"):
        missing(tf, w)

    last = traceback.extract_tb(raised.tb)[-1]
    assert (last.name, last.line) == ("missing", "tape.gradient(loss, [w])")
    assert raised.value.diagnostic.rule == "outside-tape"


def test_a_compiled_step_raises_while_it_is_traced(tf: Any) -> None:
    w = tf.Variable(2.0, name="w")

    with pytest.raises(GradientError, match="no gradient reaches `w`"), wg.watch(raise_on="warning"):
        tf.function(lambda: missing(tf, w))()


def test_what_is_only_likely_does_not_raise(tf: Any) -> None:
    w = tf.Variable([1.0, 2.0], name="w")

    with wg.watch(raise_on="warning") as run:
        with tf.GradientTape() as tape:
            loss = tf.constant(float(w.numpy().sum())) * 2.0
        tape.gradient(loss, [w])

    assert [(each.rule, each.certain) for each in run.report().diagnostics] == [("numpy-escape", False)]


def test_a_persistent_tape_may_still_be_asked_for_the_rest(tf: Any) -> None:
    a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")

    with wg.watch(raise_on="error"):
        with tf.GradientTape(persistent=True) as tape:
            first, second = a * 2.0, b * 2.0
        for v in (a, b):
            for loss in (first, second):
                g = tape.gradient(loss, v)
                if g is not None:
                    v.assign_sub(0.1 * g)


def test_a_healthy_block_runs_to_its_end_and_a_wrong_word_is_wrong_usage(tf: Any) -> None:
    w = tf.Variable(2.0)
    with wg.watch(raise_on="warning"):
        with tf.GradientTape() as tape:
            loss = w * w
        assert tape.gradient(loss, w) is not None

    with pytest.raises(UsageError, match="raise_on"), wg.watch(raise_on="note"):
        pass
