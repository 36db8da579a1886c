"""WG405 nan-division."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Severity, Word
from whygrad.fixes.finite import quotient
from whygrad.graph import Action, Recording
from whygrad.graph.nonfinite import FailingOp, Nonfinite
from whygrad.rules.nonfinite.birth import explain, expression, has_zero, small
from whygrad.rules.rule import Finding, rule


@rule("WG405", "nan-division", severity=Severity.ERROR, since="0.1.0")
def nan_division(recording: Recording) -> Iterator[Finding]:
    """Detects a division by zero that reaches the loss or a gradient.

    ## Why it matters
    `0 / 0` is NaN, anything else by 0 is Inf: a mask that is empty, a row that sums to 0, a count that is 0. With a
    divisor that is merely tiny the value is fine and the gradient overflows.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0, 3.0], name="w")
    mask = tf.constant([0.0, 0.0, 0.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * mask) / tf.reduce_sum(mask)
    gradients = tape.gradient(loss, [w])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0, 3.0], name="w")
    mask = tf.constant([0.0, 0.0, 0.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * mask) / tf.maximum(tf.reduce_sum(mask), 1.0)
    gradients = tape.gradient(loss, [w])
    ```

    ## Known limits
    Found in eager steps by replaying the step; inside compiled steps the inputs of the step must still be at hand.
    """
    yield from explain(recording, "nan-division", _words, lambda born, op: quotient(born.where, small(op, "1e-8")))


def _words(born: Nonfinite, op: FailingOp) -> tuple[str, str, str]:
    if op.action is Action.ANGLE:
        help = f"keep it away from the origin: `{Word.ANGLE}(y, {Word.WHERE}((x == 0) & (y == 0), 1e-8, x))`"
        return f"the gradient of {expression(born)} divides by x² + y², which is zero", "x and y are both zero", help
    zero = has_zero(op, 1 if len(op.inputs) > 1 else 0)
    because = f"{expression(born)} divides by {'zero' if zero else 'a number close to zero'}"
    help = f"use `{Word.DIVIDE_NO_NAN}(a, b)`, or keep the divisor away from zero: "
    help += f"`a / {Word.MAXIMUM}(b, {small(op, '1e-8')})`"
    return because, "division by zero" if zero else "the quotient overflows", help
