"""WG409 nan-acos."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Severity, Word
from whygrad.fixes.finite import inside_range
from whygrad.graph import Recording
from whygrad.graph.nonfinite import FailingOp, Nonfinite
from whygrad.rules.nonfinite.birth import explain, expression
from whygrad.rules.rule import Finding, rule


@rule("WG409", "nan-acos", severity=Severity.ERROR, since="0.1.0")
def nan_acos(recording: Recording) -> Iterator[Finding]:
    """Detects an inverse trigonometric or hyperbolic function at or beyond the edge of its range.

    ## Why it matters
    `acos` and `asin` are NaN outside [-1, 1], and at the edges their slope is infinite. A cosine similarity of
    1.0000001, by rounding alone, is enough.

    ## Example
    ```python
    import tensorflow as tf

    x = tf.Variable([0.5, 1.0], name="x")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.acos(x))
    gradients = tape.gradient(loss, [x])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    x = tf.Variable([0.5, 1.0], name="x")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.acos(0.999999 * x))
    gradients = tape.gradient(loss, [x])
    ```

    ## Known limits
    Found in eager steps by replaying the step; inside compiled steps the inputs of the step must still be at hand.
    """
    yield from explain(recording, "nan-acos", _words, lambda born, op: inside_range(born.where))


def _words(born: Nonfinite, op: FailingOp) -> tuple[str, str, str]:
    where = "at the edge of its range, where its slope is infinite" if op.backward else "outside its range"
    help = f"stay inside the range, `{Word.ARC_COSINE}({Word.CLIP}(x, -1 + 1e-6, 1 - 1e-6))`, "
    help += f"or use `{Word.ANGLE}(sine, cosine)`"
    return f"{expression(born)} is taken {where}", f"`{op.name}` {where}", help
