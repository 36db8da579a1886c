"""WG403 nan-norm."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Severity, Word
from whygrad.fixes.finite import norm
from whygrad.graph import Recording
from whygrad.graph.nonfinite import FailingOp, Nonfinite
from whygrad.rules.nonfinite.birth import explain, expression
from whygrad.rules.rule import Finding, rule


@rule("WG403", "nan-norm", severity=Severity.ERROR, since="0.1.0")
def nan_norm(recording: Recording) -> Iterator[Finding]:
    """Detects a norm of a zero vector, whose gradient is not finite.

    ## Why it matters
    The derivative of a norm is the vector divided by its norm: 0/0 at zero. Two identical embeddings, a zero row or
    a freshly zeroed variable are enough, and one such example makes the whole gradient NaN.

    ## Example
    ```python
    import tensorflow as tf

    anchor = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="anchor")
    positive = tf.constant([[1.0, 2.0], [0.0, 1.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.norm(anchor - positive, axis=-1))
    gradients = tape.gradient(loss, [anchor])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    anchor = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="anchor")
    positive = tf.constant([[1.0, 2.0], [0.0, 1.0]])
    with tf.GradientTape() as tape:
        squared = tf.reduce_sum(tf.square(anchor - positive), axis=-1)
        loss = tf.reduce_mean(tf.sqrt(squared + 1e-12))
    gradients = tape.gradient(loss, [anchor])
    ```

    ## Known limits
    Found in eager steps by replaying the step; inside compiled steps the inputs of the step must still be at hand.
    """
    yield from explain(recording, "nan-norm", _words, lambda born, op: norm(born.where))


def _words(born: Nonfinite, op: FailingOp) -> tuple[str, str, str]:
    because = f"{expression(born)} is the norm of a zero vector, which has no slope"
    help = f"use the squared distance, or `{Word.SQRT}({Word.SUM}({Word.SQUARE}(x), axis=-1) + 1e-12)`"
    return because, "the gradient of a norm at zero is 0/0", help
