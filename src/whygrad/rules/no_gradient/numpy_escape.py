"""WG104 numpy-escape."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Severity
from whygrad.graph import Recording
from whygrad.graph.query import Cut, Reason
from whygrad.rules.missing import claim, text_of
from whygrad.rules.rule import Finding, rule


@rule("WG104", "numpy-escape", severity=Severity.ERROR, since="0.1.0")
def numpy_escape(recording: Recording) -> Iterator[Finding]:
    """Detects values that left TensorFlow on the way to the loss and came back as constants.

    ## Why it matters
    `.numpy()`, `np.*`, `float()`, `model.predict()` and `tf.numpy_function` give plain numbers. What is computed
    from them is a constant for the tape: the gradient ends there, silently.

    ## Example
    ```python
    import numpy as np
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0], name="w")
    with tf.GradientTape() as tape:
        scaled = w * 3.0
        total = np.sum(scaled.numpy())
        loss = tf.square(tf.constant(total) - 1.0)
    gradients = tape.gradient(loss, [w])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0], name="w")
    with tf.GradientTape() as tape:
        scaled = w * 3.0
        total = tf.reduce_sum(scaled)
        loss = tf.square(total - 1.0)
    gradients = tape.gradient(loss, [w])
    ```

    ## Known limits
    What left and what came back are linked by order and by the code between them, so this is `likely` unless an op
    of TensorFlow itself (`numpy_function`) did it.
    """
    yield from claim(
        recording,
        lambda missing: missing.cut.reason is Reason.FOREIGN,
        because=_because,
        label=lambda cut: "the value leaves TensorFlow here; what comes back is a constant",
        help=lambda cut: f"compute {text_of(cut.op.where)} with TensorFlow ops (call the model instead of `predict`)",
    )


def _because(cut: Cut) -> str:
    likely = "likely because " if cut.op.inferred else ""
    return f"{likely}the value leaves TensorFlow on its way to the loss"
