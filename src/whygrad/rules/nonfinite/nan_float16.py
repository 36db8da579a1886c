"""WG411 nan-float16."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Severity, Word
from whygrad.fixes.networks import wider
from whygrad.graph import Recording
from whygrad.graph.nonfinite import FailingOp, Nonfinite
from whygrad.rules.nonfinite.birth import explain, expression, number_beyond_half
from whygrad.rules.rule import Finding, rule


@rule("WG411", "nan-float16", severity=Severity.ERROR, since="0.1.0")
def nan_float16(recording: Recording) -> Iterator[Finding]:
    """Detects a value that overflows in float16 and would be finite in float32.

    ## Why it matters
    The largest float16 is 65504: the square of 300 is Inf already. In a mixed-precision model a loss that is summed
    in float16, or a gradient of a loss that was scaled by hand, overflows long before anything is wrong with the
    model.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable([20.0, 10.0], name="w")
    x = tf.constant([20.0, 30.0], tf.float16)
    with tf.GradientTape() as tape:
        error = tf.cast(w, tf.float16) * x
        loss = tf.reduce_mean(tf.square(error))
    gradients = tape.gradient(loss, [w])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable([20.0, 10.0], name="w")
    x = tf.constant([20.0, 30.0], tf.float16)
    with tf.GradientTape() as tape:
        error = tf.cast(tf.cast(w, tf.float16) * x, tf.float32)
        loss = tf.reduce_mean(tf.square(error))
    gradients = tape.gradient(loss, [w])
    ```

    ## Known limits
    Found in eager steps by replaying the step; inside compiled steps the inputs of the step must still be at hand.
    """
    yield from explain(recording, "nan-float16", _words, lambda born, op: () if op.backward else wider(born.where))


def _words(born: Nonfinite, op: FailingOp) -> tuple[str, str, str]:
    number = number_beyond_half(born)
    if number is not None:
        because = f"`{number}` is Inf in float16, and {expression(born)} makes it of that"
        help = (
            f"write a number that float16 holds, such as `-1e4` for a mask, or `{Word.CAST}(x, {Word.FLOAT32})` before"
        )
        return because, f"`{number}` is more than float16 holds: 65504", help
    because = f"{expression(born)} overflows in float16 and would be finite in float32"
    if op.backward:
        help = f"let the optimizer scale the loss (`{Word.LOSS_SCALER}`), which skips such steps; "
        help += "and keep them out of sums of gradients"
        return because, "more than 65504 in the backward pass", help
    help = 'compute the loss in float32: `dtype="float32"` for the last layer, or '
    help += f"`{Word.CAST}(x, {Word.FLOAT32})` before this"
    return because, "more than float16 holds: 65504", help
