"""WG410 nan-empty-reduce."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Severity, Word
from whygrad.fixes.finite import empty_mean
from whygrad.graph import Recording
from whygrad.graph.nonfinite import FailingOp, Nonfinite
from whygrad.rules.nonfinite.birth import explain, expression
from whygrad.rules.rule import Finding, rule


@rule("WG410", "nan-empty-reduce", severity=Severity.ERROR, since="0.1.0")
def nan_empty_reduce(recording: Recording) -> Iterator[Finding]:
    """Detects a mean, maximum or minimum over no elements.

    ## Why it matters
    The mean of nothing is 0/0 = NaN, its maximum -inf: a `boolean_mask` that selects no example, an empty last
    batch. The gradient may well be finite, so training goes on while the loss and every metric made of it are NaN.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0, 3.0], name="w")
    wanted = tf.constant([False, False, False])
    with tf.GradientTape() as tape:
        picked = tf.boolean_mask(w, wanted)
        loss = tf.reduce_sum(tf.square(w)) + tf.reduce_mean(tf.square(picked))
    gradients = tape.gradient(loss, [w])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0, 3.0], name="w")
    wanted = tf.constant([False, False, False])
    with tf.GradientTape() as tape:
        picked = tf.boolean_mask(w, wanted)
        count = tf.maximum(tf.cast(tf.size(picked), tf.float32), 1.0)
        loss = tf.reduce_sum(tf.square(w)) + tf.reduce_sum(tf.square(picked)) / count
    gradients = tape.gradient(loss, [w])
    ```

    ## Known limits
    Found in eager steps by replaying the step; inside compiled steps the inputs of the step must still be at hand.
    """
    yield from explain(recording, "nan-empty-reduce", _words, lambda born, op: empty_mean(born.where))


def _words(born: Nonfinite, op: FailingOp) -> tuple[str, str, str]:
    help = f"take the sum and divide by `{Word.MAXIMUM}(count, 1)`, "
    help += f"or leave the term out where nothing is selected (`{Word.COND}`)"
    return f"{expression(born)} reduces an empty tensor", f"`{op.name}` of no elements", help
