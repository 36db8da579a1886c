"""`report.fixes` of a step, and what becomes of them when it is run again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import whygrad as wg

pytestmark = pytest.mark.tensorflow


def early(tf: Any, w: Any) -> Any:
    y = w * 3.0  # too early
    with tf.GradientTape() as tape:
        loss = tf.square(y - 1.0)
    return tape.gradient(loss, [w])


def test_a_fix_is_verified_by_running_the_step_again(tf: Any) -> None:
    w = tf.Variable(2.0, name="w")
    before, code = Path(__file__).read_bytes(), early.__code__

    [offered] = wg.explain(lambda: early(tf, w)).fixes
    tried = offered.verify()

    assert tried.is_verified
    assert "`w` gets a gradient that is finite and not zero (before: none)" in tried.verdict.evidence
    assert "+        y = w * 3.0  # too early\n" in tried.diff
    assert "verified" in str(tried)
    assert "<pre>" in tried._repr_html_()
    assert early.__code__ is code
    assert Path(__file__).read_bytes() == before
    assert early(tf, w) == [None]


def test_closures_stay_and_what_does_not_help_is_said(tf: Any) -> None:
    w, scale = tf.Variable(2.0, name="w"), 3.0

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.round(w) * scale + tf.stop_gradient(w)
        return tape.gradient(loss, [w])

    report = wg.explain(step)
    verdicts = [bool(each.verify()) for each in report.fixes]

    assert any(verdicts)
    assert wg.explain(step).diagnostics != ()


def test_a_healthy_step_has_no_fixes(tf: Any) -> None:
    w = tf.Variable(2.0)

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = w * w
        return tape.gradient(loss, [w])

    assert wg.explain(step).fixes == ()
