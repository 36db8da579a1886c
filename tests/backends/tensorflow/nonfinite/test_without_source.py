"""Which rule a NaN gets is recorded: the user's file may be gone when the recording is explained."""

from __future__ import annotations

import linecache
import runpy
from pathlib import Path
from typing import Any

import pytest

from whygrad.graph import Recording
from whygrad.graph.codec import dump, load
from whygrad.rules import all_rules, diagnose
from whygrad.watch import watch

pytestmark = pytest.mark.tensorflow

STEP = """
import keras
import tensorflow as tf
x = tf.Variable({start}, name="x")
{decorator}
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum({expression})
    return tape.gradient(loss, [x])
step()
"""

CALLS = {
    "tf.norm(x)": "nan-norm",
    "tf.norm(x, ord=3)": "nan-norm",
    "keras.ops.norm(x)": "nan-norm",
    "tf.math.reduce_euclidean_norm(x)": "nan-norm",
    "tf.math.reduce_std(x)": "nan-std",
    "keras.ops.std(x)": "nan-std",
    "tf.sqrt(tf.reduce_sum(tf.square(x)))": "nan-sqrt",
    "tf.sqrt(tf.math.reduce_variance(x))": "nan-sqrt",
    "tf.reduce_sum(x ** 2) ** 0.5": "nan-pow",
}


@pytest.mark.parametrize("decorator", ["", "@tf.function"], ids=["eager", "compiled"])
@pytest.mark.parametrize(("expression", "rule"), CALLS.items(), ids=CALLS)
def test_the_rule_is_the_same_without_the_file(
    expression: str, rule: str, decorator: str, tf: Any, keras: Any, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text(STEP.format(start="[0.0, 0.0]", decorator=decorator, expression=expression))
    with watch() as run:
        runpy.run_path(str(script))
    recording = run.recording()
    with_file = [each.rule for each in diagnose(recording, all_rules())]

    script.unlink()
    linecache.clearcache()
    without_file = [each.rule for each in diagnose(load(dump(recording), Recording), all_rules())]

    assert with_file == without_file == [rule]
