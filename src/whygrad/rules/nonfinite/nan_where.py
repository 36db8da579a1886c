"""WG407 nan-where."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Label, Severity, Word
from whygrad.fixes.finite import safe_where
from whygrad.graph import Recording
from whygrad.graph.nonfinite import FailingOp, Nonfinite
from whygrad.rules.nonfinite.birth import births, expression, finding
from whygrad.rules.rule import Finding, rule


@rule("WG407", "nan-where", severity=Severity.ERROR, since="0.1.0")
def nan_where(recording: Recording) -> Iterator[Finding]:
    """Detects a `tf.where` whose branch that is not taken makes the gradient NaN.

    ## Why it matters
    `tf.where` hides a bad value on the way forward, not on the way back: the branch that is not taken gets a
    gradient of 0, and 0 times the infinite slope of that branch is NaN. The loss is finite, every weight is NaN
    after one update.

    ## Example
    ```python
    import tensorflow as tf

    x = tf.Variable([0.0, 1.0, 4.0], name="x")
    with tf.GradientTape() as tape:
        safe_log = tf.where(x > 0.0, tf.math.log(x), tf.zeros_like(x))
        loss = tf.reduce_sum(safe_log)
    gradients = tape.gradient(loss, [x])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    x = tf.Variable([0.0, 1.0, 4.0], name="x")
    with tf.GradientTape() as tape:
        safe_x = tf.where(x > 0.0, x, tf.ones_like(x))
        safe_log = tf.where(x > 0.0, tf.math.log(safe_x), tf.zeros_like(x))
        loss = tf.reduce_sum(safe_log)
    gradients = tape.gradient(loss, [x])
    ```

    ## Known limits
    Found in eager steps by replaying the step; inside compiled steps the inputs of the step must still be at hand.
    """
    for born, op in births(recording, "nan-where"):
        because, label, help = _words(born, op)
        hidden = (
            () if born.masked_by in (None, born.where) else (Label(born.masked_by, "hidden here, in the forward pass"),)
        )
        yield finding(
            recording,
            born,
            because=because,
            label=label,
            help=help,
            related=hidden,
            fixes=partial(safe_where, born.where, born.masked_by),
        )


def _words(born: Nonfinite, op: FailingOp) -> tuple[str, str, str]:
    because = f"{expression(born)} is not finite where `{Word.WHERE}` takes the other branch, "
    because += "and 0 * Inf is NaN in the backward pass"
    help = f"put a `{Word.WHERE}` around the input too: `safe = {Word.WHERE}(ok, x, 1.0)`, "
    help += f"then `{Word.WHERE}(ok, f(safe), 0.0)`"
    return because, f"`{op.name}` runs for the hidden elements as well", help
