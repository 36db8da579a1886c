"""WG406 nan-pow."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Severity, Word
from whygrad.fixes.finite import power
from whygrad.graph import Recording
from whygrad.graph.nonfinite import FailingOp, Nonfinite
from whygrad.rules.nonfinite.birth import explain, expression, has_negative, has_zero
from whygrad.rules.rule import Finding, rule


@rule("WG406", "nan-pow", severity=Severity.ERROR, since="0.1.0")
def nan_pow(recording: Recording) -> Iterator[Finding]:
    """Detects a power whose value or slope is not finite, such as a root of a negative number or of zero.

    ## Why it matters
    `x ** 0.5` is NaN below 0 and has an infinite slope at 0; `x ** -1` is Inf at 0; a large base or exponent
    overflows.

    ## Example
    ```python
    import tensorflow as tf

    x = tf.Variable([0.0, 1.0, 4.0], name="x")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(x ** 0.5)
    gradients = tape.gradient(loss, [x])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    x = tf.Variable([0.0, 1.0, 4.0], name="x")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((x + 1e-6) ** 0.5)
    gradients = tape.gradient(loss, [x])
    ```

    ## Known limits
    Found in eager steps by replaying the step; inside compiled steps the inputs of the step must still be at hand.
    """
    yield from explain(recording, "nan-pow", _words, lambda born, op: power(born.where))


def _words(born: Nonfinite, op: FailingOp) -> tuple[str, str, str]:
    base = "a negative number" if has_negative(op) else "zero" if has_zero(op) else "a large number"
    what = "the slope of this power is not finite" if op.backward else f"power of {base}"
    help = f"keep the base away from zero, `{Word.MAXIMUM}(x, 1e-6) ** p`; "
    help += f"for whole exponents use `{Word.SQUARE}` or products"
    return f"{expression(born)} takes a power of {base}", what, help
