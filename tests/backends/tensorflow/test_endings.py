"""Code that raises under `explain`: what it raised is kept, and what the installed packages know of it is said."""

from __future__ import annotations

import json
from typing import Any

import pytest

import whygrad

pytestmark = pytest.mark.tensorflow


def test_what_the_step_raises_is_in_the_report(tf: Any) -> None:
    def step() -> None:
        raise LookupError("no such row")

    report = whygrad.explain(step)

    assert isinstance(report.error, LookupError)
    assert json.loads(report.to_json())["run"]["error"]["message"] == "no such row"
    assert "failed with LookupError" in str(report)
    with pytest.raises(LookupError, match="no such row"):
        report.reraise()


def test_a_step_that_raises_nothing_has_no_error(tf: Any) -> None:
    report = whygrad.explain(lambda: None)
    report.reraise()

    assert report.error is None
    assert "error" not in json.loads(report.to_json())["run"]


def test_what_is_not_callable_is_refused_with_the_right_call() -> None:
    with pytest.raises(TypeError, match=r"was given a `float`\nhelp: write `wg\.explain\(step, x, y\)`"):
        whygrad.explain(3.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("expression", "message", "advice"),
    [
        ("tf.assign", "TensorFlow 2 has no `tf.assign`", "write `variable.assign(value)`"),
        ("tf.log", "TensorFlow 2 has no `tf.log`", "write `tf.math.log`"),
        ("tf.train.AdamOptimizer", "TensorFlow 2 has no `tf.train.AdamOptimizer`", "use `keras.optimizers.Adam`"),
        ("keras.losses.kullback_leibler_divergence", "Keras 3 has no", "write `keras.losses.kl_divergence`"),
        ("keras.metrics.Mean().reset_states()", "Keras 3 has no `reset_states` here", "write `reset_state`"),
        ("keras.layers.Layer('x')", "`Layer.__init__` of Keras 3 takes no positional argument", "name the arguments"),
        ("__import__('keras.engine')", "Keras 3 has no `engine` here any more", "import `Model`"),
    ],
)
def test_old_names_are_told_with_the_new_ones(tf: Any, keras: Any, expression: str, message: str, advice: str) -> None:
    [found] = whygrad.explain(lambda: eval(expression, {"tf": tf, "keras": keras})).diagnostics

    assert found.rule == "keras3-api-change"
    assert found.message.startswith(message)
    assert (found.help or "").startswith(advice)


@pytest.mark.parametrize("expression", ["tf.no_such_name", "tf.nn.relux", "keras.losses.mine", "keras.Model().mine"])
def test_a_slip_of_the_users_own_is_no_old_name(tf: Any, keras: Any, expression: str) -> None:
    assert whygrad.explain(lambda: eval(expression, {"tf": tf, "keras": keras})).diagnostics == ()
