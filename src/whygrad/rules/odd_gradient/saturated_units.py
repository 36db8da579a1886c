"""WG306 saturated-units."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from whygrad.diagnostics import Severity
from whygrad.graph import Recording
from whygrad.graph.series import SATURATING
from whygrad.rules.odd_gradient.over_steps import silent_layers
from whygrad.rules.odd_gradient.series import find_saturated_units
from whygrad.rules.rule import Finding, rule

_HELP: Final = "scale its input down (normalise, smaller initial weights), or use an activation without plateaus"


@rule("WG306", "saturated-units", severity=Severity.WARNING, since="0.1.0")
def saturated_units(recording: Recording) -> Iterator[Finding]:
    """Detects layers with a `tanh` or `sigmoid` that is so far out on its plateau that hardly any gradient passes.

    ## Why it matters
    Inputs in the thousands, or large initial weights, push a `tanh` to exactly one. Its slope there is zero, or next
    to it, so the layers before it stand still while those after it train.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable(tf.random.normal((3, 6), seed=0), name="squash/kernel")
    b = tf.Variable(tf.zeros((6,)), name="squash/bias")
    v = tf.Variable(tf.random.normal((6, 1), seed=1), name="out/kernel")
    c = tf.Variable(tf.zeros((1,)), name="out/bias")
    salary = tf.random.uniform((32, 3), 20_000.0, 90_000.0, seed=2)
    for _ in range(20):
        with tf.GradientTape() as tape:
            hidden = tf.tanh(salary @ w + b)
            loss = tf.reduce_mean((hidden @ v + c - salary[:, :1] / 90_000.0) ** 2)
        gradients = tape.gradient(loss, [w, b, v, c])
        for gradient, variable in zip(gradients, [w, b, v, c]):
            variable.assign_sub(0.01 * gradient)
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable(tf.random.normal((3, 6), seed=0), name="squash/kernel")
    b = tf.Variable(tf.zeros((6,)), name="squash/bias")
    v = tf.Variable(tf.random.normal((6, 1), seed=1), name="out/kernel")
    c = tf.Variable(tf.zeros((1,)), name="out/bias")
    salary = tf.random.uniform((32, 3), 20_000.0, 90_000.0, seed=2) / 90_000.0
    for _ in range(20):
        with tf.GradientTape() as tape:
            hidden = tf.tanh(salary @ w + b)
            loss = tf.reduce_mean((hidden @ v + c - salary[:, :1]) ** 2)
        gradients = tape.gradient(loss, [w, b, v, c])
        for gradient, variable in zip(gradients, [w, b, v, c]):
            variable.assign_sub(0.01 * gradient)
    ```

    ## Known limits
    Seen by the gradient of the bias, which must be zero or below a thousandth (per element) of that of the next bias
    for ten steps or more. A layer without a bias is not looked at.
    """
    yield from silent_layers(recording, SATURATING, find_saturated_units, "saturated", _HELP)
