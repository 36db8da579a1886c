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

    image = tf.Variable([[[0.2, 0.4, 0.6]], [[0.1, 0.9, 0.5]]], name="image")
    with tf.GradientTape() as tape:
        strong = tf.image.adjust_contrast(image, 2.0)
        loss = tf.reduce_sum(tf.square(strong))
    try:
        gradients = tape.gradient(loss, [image])
    except LookupError:
        gradients = [None]
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    image = tf.Variable([[[0.2, 0.4, 0.6]], [[0.1, 0.9, 0.5]]], name="image")
    with tf.GradientTape() as tape:
        mean = tf.reduce_mean(image, axis=(0, 1), keepdims=True)
        strong = mean + 2.0 * (image - mean)
        loss = tf.reduce_sum(tf.square(strong))
    gradients = tape.gradient(loss, [image])
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
