"""Steps that are computed and thrown away, eager and compiled."""

from __future__ import annotations

import linecache
from typing import Any

import pytest

from whygrad.graph.event import VariableStep
from whygrad.rules.edits.variable_rebound import is_thrown_away
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
        found = [step for step in run.recording().events_of(VariableStep) if is_thrown_away(step)]

    assert len(found) == thrown_away


SOFT = """
kernels = [tf.Variable([1.0, 2.0]), tf.Variable([3.0])]
others = [tf.Variable([2.0, 2.0]), tf.Variable([2.0])]
DECORATED
def update():
    for t, v in zip(kernels, others):
        STATEMENT
for _ in range(3):
    update()
for t in kernels:
    t.assign(t * 1.0)
"""


@pytest.mark.parametrize("decorated", ["", "@tf.function", "@tf.function(autograph=False)"])
@pytest.mark.parametrize(
    ("statement", "thrown_away"),
    [
        ("t = 0.1 * v + 0.9 * t", True),
        ("t = tf.clip_by_value(t, -1.0, 1.0)", True),
        ("t.assign(0.1 * v + 0.9 * t)", False),
        ("t = t.assign(0.1 * v + 0.9 * t)", False),
        ("t = 0.1 * v + 0.9 * t; tf.reduce_sum(t)", False),
    ],
)
def test_a_value_bound_to_a_loop_s_name_and_never_read_is_thrown_away(
    loud: Any, decorated: str, statement: str, thrown_away: bool
) -> None:
    found = loud(SOFT.replace("DECORATED", decorated).replace("STATEMENT", statement))

    assert [rule for rule, _ in found] == (["variable-rebound"] if thrown_away else [])


@pytest.mark.parametrize("statement", ["t *= 0.9", "t = 0.1 * v + 0.9 * t"])
def test_the_same_holds_for_variables_of_keras(loud: Any, statement: str) -> None:
    program = SOFT.replace("DECORATED", "").replace("STATEMENT", statement).replace("tf.Variable", "keras.Variable")

    assert [rule for rule, _ in loud(program)] == ["variable-rebound"]
