"""WG103 stop-gradient."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Severity
from whygrad.fixes.straight_through import unstopped
from whygrad.graph import Recording
from whygrad.graph.questions.query import Reason
from whygrad.rules.no_gradient.claim import claim
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import text_of


@rule("WG103", "stop-gradient", severity=Severity.ERROR, since="0.1.0")
def stop_gradient(recording: Recording) -> Iterator[Finding]:
    """Detects variables whose every path to the loss goes through a `stop_gradient`, and that no other loss trains.

    ## Why it matters
    `tf.stop_gradient` is right for targets and straight-through tricks. On the only path of a variable it means that
    the variable never learns, and TensorFlow says nothing about it.

    ## Example
    ```python
    import tensorflow as tf

    x = tf.Variable(1.0, name="x")
    y = tf.Variable(2.0, name="y")
    with tf.GradientTape() as tape:
        loss = tf.square(tf.stop_gradient(x) * y)
    gradients = tape.gradient(loss, [x, y])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    x = tf.Variable(1.0, name="x")
    y = tf.Variable(2.0, name="y")
    with tf.GradientTape() as tape:
        loss = tf.square(x * y)
    gradients = tape.gradient(loss, [x, y])
    ```

    ## Known limits
    Where the variable is left out on purpose, do not ask for its gradient: then nothing is reported.
    """
    yield from claim(
        recording,
        lambda missing: missing.cut.reason is Reason.STOPPED and missing.cut.op.custom is None,
        because=lambda cut: "every path to the loss goes through a `stop_gradient`",
        label=lambda cut: "the gradient stops here",
        help=lambda cut: f"take {text_of(cut.op.where)} out of the path, or do not ask for this gradient",
        fixes=lambda missing: unstopped(missing.cut.op.where),
    )
