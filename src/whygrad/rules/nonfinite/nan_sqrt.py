"""WG402 nan-sqrt."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Severity, Word
from whygrad.fixes.finite import root
from whygrad.graph import Recording
from whygrad.graph.nonfinite import FailingOp, Nonfinite
from whygrad.rules.nonfinite.birth import explain, expression, has_negative, small
from whygrad.rules.rule import Finding, rule


@rule("WG402", "nan-sqrt", severity=Severity.ERROR, since="0.1.0")
def nan_sqrt(recording: Recording) -> Iterator[Finding]:
    """Detects a square root whose argument is zero or negative, so that its gradient or its value is not finite.

    ## Why it matters
    The slope of the square root at 0 is infinite. The value is a harmless 0, so the loss looks fine; the gradient
    is Inf, and NaN as soon as it meets a 0 on the way back.

    ## Example
    ```python
    import tensorflow as tf

    a = tf.Variable([1.0, 2.0], name="a")
    b = tf.constant([1.0, 5.0])
    with tf.GradientTape() as tape:
        distance = tf.sqrt(tf.square(a - b))
        loss = tf.reduce_sum(distance)
    gradients = tape.gradient(loss, [a])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    a = tf.Variable([1.0, 2.0], name="a")
    b = tf.constant([1.0, 5.0])
    with tf.GradientTape() as tape:
        distance = tf.sqrt(tf.square(a - b) + 1e-12)
        loss = tf.reduce_sum(distance)
    gradients = tape.gradient(loss, [a])
    ```

    ## Known limits
    Found in eager steps by replaying the step; inside compiled steps the inputs of the step must still be at hand.
    """
    yield from explain(
        recording, "nan-sqrt", _words, lambda born, op: root(born.where, small(op, "1e-12"), negative=has_negative(op))
    )


def _words(born: Nonfinite, op: FailingOp) -> tuple[str, str, str]:
    value = "a negative number" if has_negative(op) else "zero"
    what = "the slope of a square root at zero is infinite" if op.backward else f"square root of {value}"
    help = f"add a small number inside the root, `{Word.SQRT}(x + {small(op, '1e-12')})`, or use the square itself"
    return f"{expression(born)} takes the square root of {value}", what, help
