"""WG305 dead-units."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from whygrad.diagnostics import Severity
from whygrad.graph import Recording
from whygrad.graph.series import RECTIFIED
from whygrad.rules.odd_gradient.over_steps import silent_layers
from whygrad.rules.odd_gradient.series import find_dead_units
from whygrad.rules.rule import Finding, rule

_HELP: Final = (
    "start its biases at zero, lower the learning rate, or use an activation that leaks (`leaky_relu`, `gelu`)"
)


@rule("WG305", "dead-units", severity=Severity.WARNING, since="0.1.0")
def dead_units(recording: Recording) -> Iterator[Finding]:
    """Detects rectified layers whose units have had no gradient for many steps.

    ## Why it matters
    A `relu` whose input is negative for every example gives zero and passes no gradient back, so nothing will ever
    move it again. A learning rate that was too large for one step, or biases that start too low, leave a layer like
    that; the loss goes on falling a little, by what is left.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable(tf.random.normal((4, 8), seed=0), name="hidden/kernel")
    b = tf.Variable(tf.fill((8,), -30.0), name="hidden/bias")
    v = tf.Variable(tf.random.normal((8, 1), seed=1), name="answer/kernel")
    c = tf.Variable(tf.zeros((1,)), name="answer/bias")
    x = tf.random.normal((32, 4), seed=2)
    for _ in range(20):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(x @ w + b)
            loss = tf.reduce_mean((hidden @ v + c - x[:, :1] - 1.0) ** 2)
        gradients = tape.gradient(loss, [w, b, v, c])
        for gradient, variable in zip(gradients, [w, b, v, c]):
            variable.assign_sub(0.1 * gradient)
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable(tf.random.normal((4, 8), seed=0), name="hidden/kernel")
    b = tf.Variable(tf.zeros((8,)), name="hidden/bias")
    v = tf.Variable(tf.random.normal((8, 1), seed=1), name="answer/kernel")
    c = tf.Variable(tf.zeros((1,)), name="answer/bias")
    x = tf.random.normal((32, 4), seed=2)
    for _ in range(20):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(x @ w + b)
            loss = tf.reduce_mean((hidden @ v + c - x[:, :1] - 1.0) ** 2)
        gradients = tape.gradient(loss, [w, b, v, c])
        for gradient, variable in zip(gradients, [w, b, v, c]):
            variable.assign_sub(0.01 * gradient)
    ```

    ## Known limits
    Seen by the gradient of the bias: a layer without one is not looked at. Nearly all units, four at least,
    must have been silent in the last half of ten steps or more; of a long run one step in 16 is looked at. Half of them
    are a note: a small batch leaves as many silent in a network that learns. Where the next bias has no gradient either,
    none arrives, and the layer is not blamed; nor is it where NaN came in, which silences units too.
    """
    yield from silent_layers(recording, RECTIFIED, find_dead_units, "dead", _HELP)
