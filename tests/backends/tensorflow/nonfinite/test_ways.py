"""Every way to a NaN is named and placed, and nothing else is said."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import versions

sys.path.insert(0, str(Path(__file__).parent))

from ways import BETWEEN, COMPILED, DRAWING, EAGER, FIT, NESTED, STRUCTURED, XLA, Way

from whygrad.watch import watch

pytestmark = pytest.mark.tensorflow


@pytest.mark.parametrize(
    "way", [*EAGER, *BETWEEN, *COMPILED, *NESTED, *XLA, *STRUCTURED, *DRAWING, *FIT], ids=lambda way: way.name
)
def test_the_expression_that_made_the_first_bad_value_is_found(way: Way, tf: Any, keras: Any, tmp_path: Path) -> None:
    if versions.is_oldest_tensorflow() and way.name.startswith("cast to float16, compiled(jit_compile"):
        pytest.skip("this XLA casts to float16 without an overflow")
    script = tmp_path / "train.py"
    script.write_text(way.source)
    with watch() as run:
        left = runpy.run_path(str(script))

    assert any(not np.isfinite(np.asarray(tensor)).all() for tensor in left["bad"]), "the program is not bad at all"
    found = [each for each in run.report().diagnostics if each.rule != "stack-without-activation"]  # true of one
    later = [(way.then, "warning")] if way.then else []
    assert [(each.rule, each.severity.label) for each in found] == [(way.rule, way.severity), *later]
    for each, lines in zip(found, (way.lines, way.later_lines), strict=False):
        assert each.primary is not None
        assert any(each.primary.span.contains_line(line) for line in lines)


LATER = """
tf.random.set_seed(0)
v, out = tf.Variable(tf.random.normal((4, 16)), name="v"), tf.Variable(tf.zeros((16, 1)), name="out")
descent = keras.optimizers.Adam(0.01, clipnorm=1.0)
@tf.function
def step(x):
    noise = tf.random.normal((32, 4))
    with tf.GradientTape() as tape:
        rooted = tf.sqrt(tf.nn.relu((x + noise) @ v))
        loss = tf.reduce_mean((rooted @ out - 1.0) ** 2)
    descent.apply_gradients(zip(tape.gradient(loss, [v, out]), [v, out]))
    return loss
for _ in range(20):
    step(tf.ones((32, 4)))
"""


def test_a_step_that_draws_goes_bad_later_with_other_numbers_too_and_a_clipped_norm_hides_nothing(loud: Any) -> None:
    """The output starts at zero, so that the first step is fine; the optimizer clips by a select."""
    assert loud(LATER) == [("nan-sqrt", "tf.sqrt(tf.nn.relu((x + noise) @ v))")]
