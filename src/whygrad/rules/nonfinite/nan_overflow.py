"""WG417 nan-overflow."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Severity
from whygrad.graph import Recording
from whygrad.graph.nonfinite import FailingOp, Nonfinite
from whygrad.rules.nonfinite.birth import explain, expression
from whygrad.rules.rule import Finding, rule


@rule("WG417", "nan-overflow", severity=Severity.ERROR, since="0.1.0")
def nan_overflow(recording: Recording) -> Iterator[Finding]:
    """Detects a sum or product of finite numbers that is too large for its dtype.

    ## Why it matters
    In float32 numbers end at 3.4e38. Nothing is wrong with the expression itself: what goes in has grown out of all
    proportion, usually because training diverges.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable([3e19, 1.0], name="w")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(w))
    gradients = tape.gradient(loss, [w])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable([3e3, 1.0], name="w")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(w))
    gradients = tape.gradient(loss, [w])
    ```

    ## Known limits
    Found in eager steps by replaying the step; inside compiled steps the inputs of the step must still be at hand.
    """
    yield from explain(recording, "nan-overflow", _words)


def _words(born: Nonfinite, op: FailingOp) -> tuple[str, str, str]:
    if born.when.step == 1:  # nothing was learned yet
        help = "use smaller initial weights, scale the inputs, or look for what multiplies again and again, as a recurrence"
        return f"{expression(born)} overflows: what goes in is too large", "too large for its dtype", help
    help = "training diverges: use a smaller learning rate, clip the gradients by their norm, or scale the inputs"
    return f"{expression(born)} overflows: what goes in has grown too large", "too large for its dtype", help
