"""What is called zero is zero, and what is not called so is not: TensorFlow's own numbers decide."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import ModuleType

import pytest

from whygrad.diagnostics import Severity
from whygrad.watch import watch

PROGRAM = """
import tensorflow as tf

w = tf.Variable([[0.3, -0.7, 1.1], [0.2, 0.9, -0.4]], name="w")
with tf.GradientTape() as tape:
    p = tf.nn.softmax(w)
    loss = {loss}
gradients = tape.gradient(loss, [w])
"""


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "loss",
    [
        "tf.reduce_sum(p)",
        "tf.reduce_mean(p)",
        "tf.reduce_sum(p, axis=0)[0]",
        "tf.reduce_sum(tf.reduce_sum(p, axis=0))",
        "tf.reduce_mean(-2.0 * p + 1.0)",
        "tf.reduce_sum(p / 2.0)",
        "tf.reduce_sum(2.0 / p)",
        "tf.reduce_sum(p * p)",
        "tf.reduce_sum(p + p)",
        "tf.reduce_sum(p - p)",
        "tf.reduce_sum(tf.square(p))",
        "tf.reduce_sum(p * tf.constant([1.0, 2.0, 3.0]))",
        "tf.reduce_sum(p * w)",
        "tf.reduce_sum(p * w[0, 0])",
        "tf.reduce_sum(p) + tf.reduce_sum(w)",
        "tf.reduce_sum(p) * tf.reduce_sum(w)",
        "tf.reduce_sum(tf.math.log(p))",
        "tf.reduce_max(p)",
        "tf.reduce_sum(tf.sign(w))",
        "tf.reduce_sum(tf.sign(w) * w)",
        "tf.reduce_sum(tf.sign(w) * p)",
        "tf.reduce_sum(w + tf.sign(w))",
        "tf.reduce_sum(2.0 * (w - tf.reduce_mean(w, 1, keepdims=True)))",
        "tf.reduce_sum(w - 2.0 * tf.reduce_mean(w, 1, keepdims=True))",
        "tf.reduce_sum(w - tf.reduce_mean(w, 0, keepdims=True), axis=1)[0]",
        "tf.reduce_sum(w - tf.stop_gradient(tf.reduce_mean(w, 1, keepdims=True)))",
        "tf.reduce_sum(w / tf.reduce_sum(w, 1, keepdims=True))",
        "tf.reduce_sum((w - tf.reduce_mean(w, 1, keepdims=True)) / tf.math.reduce_std(w, 1, keepdims=True))",
        "tf.reduce_mean(tf.nn.batch_normalization(w, *tf.nn.moments(w, 1, keepdims=True), None, 2.0, 1e-3))",
        "tf.reduce_mean(tf.nn.batch_normalization(w, *tf.nn.moments(w, 1, keepdims=True), None, 2.0, 1e-3)[:, 0])",
        "tf.reduce_sum(tf.square(tf.math.l2_normalize(w, 1)))",
        "tf.reduce_sum(tf.math.l2_normalize(w, 1))",
    ],
)
def test_zero_is_said_exactly_where_tensorflow_gives_zero(loss: str, tf: ModuleType, tmp_path: Path) -> None:
    script = tmp_path / "example.py"
    script.write_text(PROGRAM.format(loss=loss))
    with watch() as run:
        names = runpy.run_path(str(script))

    said = {found.code for found in run.report().diagnostics if found.severity >= Severity.WARNING}
    is_zero = float(tf.reduce_max(tf.abs(names["gradients"][0]))) < 1e-6
    assert said == ({"WG301"} if is_zero else set())
