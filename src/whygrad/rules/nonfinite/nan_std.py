"""WG404 nan-std."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Severity, Word
from whygrad.fixes.finite import deviation
from whygrad.graph import Recording
from whygrad.graph.nonfinite import FailingOp, Nonfinite
from whygrad.rules.nonfinite.birth import explain, expression
from whygrad.rules.rule import Finding, rule


@rule("WG404", "nan-std", severity=Severity.ERROR, since="0.1.0")
def nan_std(recording: Recording) -> Iterator[Finding]:
    """Detects a standard deviation of values that are all equal, whose gradient is not finite.

    ## Why it matters
    A standard deviation is a square root of a variance. Where all values are equal, the variance is 0, and so is
    the deviation, but its slope is infinite: the gradient is NaN. One constant feature or a batch of one is enough.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable([[1.0, 2.0], [1.0, 3.0]], name="w")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.math.reduce_std(w, axis=0))
    gradients = tape.gradient(loss, [w])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable([[1.0, 2.0], [1.0, 3.0]], name="w")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.sqrt(tf.math.reduce_variance(w, axis=0) + 1e-6))
    gradients = tape.gradient(loss, [w])
    ```

    ## Known limits
    Found in eager steps by replaying the step; inside compiled steps the inputs of the step must still be at hand.
    """
    yield from explain(recording, "nan-std", _words, lambda born, op: deviation(born.where))


def _words(born: Nonfinite, op: FailingOp) -> tuple[str, str, str]:
    because = f"{expression(born)} is the deviation of equal values, which has no slope"
    help = f"add a small number to the variance: `{Word.SQRT}({Word.VARIANCE}(x) + 1e-6)`"
    return because, "the gradient of a standard deviation at zero is infinite", help
