"""WG401 nan-log."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Severity, Word
from whygrad.fixes.finite import logarithm
from whygrad.graph import Recording
from whygrad.graph.nonfinite import FailingOp, Nonfinite
from whygrad.rules.nonfinite.birth import explain, expression, has_negative, small
from whygrad.rules.rule import Finding, rule


@rule("WG401", "nan-log", severity=Severity.ERROR, since="0.1.0")
def nan_log(recording: Recording) -> Iterator[Finding]:
    """Detects a logarithm of zero or of a negative number that reaches the loss or a gradient.

    ## Why it matters
    The logarithm of 0 is -inf, and `0 * -inf` is NaN: one probability that underflows to 0 is enough. After one
    update every weight is NaN, and the loss stays so.

    ## Example
    ```python
    import tensorflow as tf

    logits = tf.Variable([[200.0, 0.0], [0.0, 1.0]], name="logits")
    labels = tf.constant([[1.0, 0.0], [0.0, 1.0]])
    with tf.GradientTape() as tape:
        p = tf.nn.softmax(logits)
        loss = -tf.reduce_mean(tf.reduce_sum(labels * tf.math.log(p), axis=1))
    gradients = tape.gradient(loss, [logits])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    logits = tf.Variable([[200.0, 0.0], [0.0, 1.0]], name="logits")
    labels = tf.constant([[1.0, 0.0], [0.0, 1.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels, logits))
    gradients = tape.gradient(loss, [logits])
    ```

    ## Known limits
    Found in eager steps by replaying the step; inside compiled steps the inputs of the step must still be at hand.
    """
    yield from explain(recording, "nan-log", _words, lambda born, op: logarithm(born.where, small(op, "1e-7")))


def _words(born: Nonfinite, op: FailingOp) -> tuple[str, str, str]:
    value = "a negative number" if has_negative(op) else "zero"
    because = f"{expression(born)} takes the logarithm of {value}"
    help = f"keep the argument away from zero: `{Word.LOG}({Word.MAXIMUM}(x, {small(op, '1e-7')}))`"
    if not born.when.in_update:
        logits = f"(`{Word.CROSS_ENTROPY}`, `{Word.LOG_SOFTMAX}`, `from_logits=True`)"
        help = f"compute the loss from the logits {logits}, or {help}"
    return because, f"log of {value}", help
