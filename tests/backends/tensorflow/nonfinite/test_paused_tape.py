"""An eager step whose tape stops recording in between is one step: what ran after the stop can be run again, too."""

from __future__ import annotations

from typing import Any

import pytest

from whygrad.watch import watch

pytestmark = pytest.mark.tensorflow


def test_a_logarithm_after_a_stop_of_the_tape_is_found(tf: Any) -> None:
    weight = tf.Variable([1.0, 2.0])
    with watch() as run:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(weight**2)
            with tape.stop_recording():
                tf.reduce_mean(weight, axis=0)
            loss += tf.reduce_sum(tf.math.log(weight - 1.0), axis=0)
        tape.gradient(loss, weight)

    [found] = [each for each in run.report().diagnostics if each.code.startswith("WG4")]
    assert (found.rule, found.certain) == ("nan-log", True)
