"""WG102 no-registered-gradient."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Severity
from whygrad.graph import Recording
from whygrad.graph.query import Reason
from whygrad.rules.missing import claim
from whygrad.rules.rule import Finding, rule


@rule("WG102", "no-registered-gradient", severity=Severity.ERROR, since="0.1.0")
def no_registered_gradient(recording: Recording) -> Iterator[Finding]:
    """Detects ops on the path to the loss that TensorFlow has no gradient for at all.

    ## Why it matters
    Asking for a gradient through such an op raises `LookupError: gradient registry has no entry for: ...`, which
    names the op but not the expression that ran it.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
    with tf.GradientTape() as tape:
        y, _ = tf.raw_ops.LinSpace(start=w[0, 0], stop=w[0, 1], num=3), None
        loss = tf.reduce_sum(y)
    try:
        gradients = tape.gradient(loss, [w])
    except LookupError:
        gradients = [None]
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
    with tf.GradientTape() as tape:
        y = w[0, 0] + (w[0, 1] - w[0, 0]) * tf.constant([0.0, 0.5, 1.0])
        loss = tf.reduce_sum(y)
    gradients = tape.gradient(loss, [w])
    ```

    ## Known limits
    Only ops that the request reached before it raised are known to be on the path.
    """
    yield from claim(
        recording,
        lambda missing: missing.cut.reason is Reason.UNREGISTERED,
        because=lambda cut: f"TensorFlow has no gradient for `{cut.op.name}`",
        label=lambda cut: f"{cut.op.name} has no registered gradient",
        help=lambda cut: "write this with ops that have a gradient, or give it one with `tf.custom_gradient`",
    )
