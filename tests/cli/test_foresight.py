from __future__ import annotations

from pathlib import Path

from whygrad.cli.linting.foresight import with_foresight
from whygrad.diagnostics import Diagnostic, Label, Severity
from whygrad.report import Report
from whygrad.source import SourceSpan

SCRIPT = """import tensorflow as tf
data = open("no such file")
n = tf.Variable(3)
with tf.GradientTape() as tape:
    loss = tf.cast(n, tf.float32)
tape.gradient(loss, n)
"""
DIED = {"error": {"type": "ValueError", "message": ""}, "requests": 0}


def script(tmp_path: Path) -> str:
    (tmp_path / "train.py").write_text(SCRIPT)
    return str(tmp_path / "train.py")


def test_what_lies_ahead_of_a_crash_is_a_note(tmp_path: Path) -> None:
    (found,) = with_foresight(Report(run=DIED), script(tmp_path)).diagnostics

    assert (found.rule, found.severity) == ("int-variable", Severity.NOTE)
    assert found.notes == ("seen in the source: the run did not get this far",)


def test_nothing_is_added_where_the_run_got_as_far_as_a_gradient(tmp_path: Path) -> None:
    assert with_foresight(Report(run={**DIED, "requests": 1}), script(tmp_path)).diagnostics == ()


def test_nothing_is_added_where_the_script_succeeded(tmp_path: Path) -> None:
    assert with_foresight(Report(run={"requests": 0}), script(tmp_path)).diagnostics == ()


def test_what_the_run_has_said_is_not_said_again(tmp_path: Path) -> None:
    file = script(tmp_path)
    said = Diagnostic(
        code="WG110",
        rule="int-variable",
        severity=Severity.ERROR,
        message="",
        primary=Label(SourceSpan(file, 3), ""),
    )

    assert with_foresight(Report(run=DIED, diagnostics=(said,)), file).diagnostics == (said,)
