"""WG418 nan-op."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Severity
from whygrad.graph import Recording
from whygrad.graph.nonfinite import FailingOp, Nonfinite
from whygrad.rules.nonfinite.birth import explain, expression
from whygrad.rules.rule import Finding, rule


@rule("WG418", "nan-op", severity=Severity.ERROR, since="0.1.0")
def nan_op(recording: Recording) -> Iterator[Finding]:
    """Detects an op that makes the first NaN or Inf and that no other rule explains.

    ## Why it matters
    The expression that made the first bad number is known, and so is what went in; why this op cannot cope with it
    is for its own documentation to say: a singular matrix, `lgamma(0)`.

    ## Example
    ```python
    import tensorflow as tf

    x = tf.Variable([0.0, 1.0], name="x")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.math.lgamma(x))
    gradients = tape.gradient(loss, [x])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    x = tf.Variable([0.5, 1.5], name="x")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.math.lgamma(x))
    gradients = tape.gradient(loss, [x])
    ```

    ## Known limits
    Found in eager steps by replaying the step; inside compiled steps the inputs of the step must still be at hand.
    """
    yield from explain(recording, "nan-op", _words)


def _words(born: Nonfinite, op: FailingOp) -> tuple[str, str, str]:
    way = "the gradient of " if op.backward else ""
    help = "look at the values that go in, and keep them where the op is defined"
    return f"{way}{expression(born)} is the first value that is not finite", f"`{op.name}` makes it", help
