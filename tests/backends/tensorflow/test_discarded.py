"""Steps that are computed and thrown away, eager and compiled."""

from __future__ import annotations

import linecache
from typing import Any

import pytest

from whygrad.graph.event import UpdateDiscarded
from whygrad.watch import watch

pytestmark = pytest.mark.tensorflow

LOOP = """
import tensorflow as tf

w = tf.Variable([1.0, 2.0])
{decorator}
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w * x) ** 2)
    g = tape.gradient(loss, w)
    v = w
    v = v - 0.1 * g
    {use}
    return loss

for _ in range(3):
    step(tf.constant([1.0, 2.0]))
"""


@pytest.mark.parametrize("decorator", ["", "@tf.function"])
@pytest.mark.parametrize(("use", "thrown_away"), [("pass", 1), ("w.assign(v)", 0), ("loss = tf.reduce_sum(v)", 0)])
def test_a_step_is_thrown_away_where_nothing_uses_it(tf: Any, decorator: str, use: str, thrown_away: int) -> None:
    text = LOOP.format(decorator=decorator, use=use)
    file = f"<ipython-input-{len(decorator)}-{len(use)}-discarded>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    with watch() as run:
        exec(compile(text, file, "exec"), {"__name__": "__main__"})
        found = list(run.recording().events_of(UpdateDiscarded))

    assert len(found) == thrown_away
