"""WG408 nan-exp."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Fix, Severity, Word
from whygrad.fixes.finite import exponential, finite_mask
from whygrad.graph import OpKind, Recording
from whygrad.graph.nonfinite import FailingOp, Nonfinite
from whygrad.rules.nonfinite.birth import explain, expression, grown_from
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import text_of


@rule("WG408", "nan-exp", severity=Severity.ERROR, since="0.1.0")
def nan_exp(recording: Recording) -> Iterator[Finding]:
    """Detects an exponential that overflows.

    ## Why it matters
    In float32 the exponential of anything above 88.7 is Inf, in float16 above 11. `exp(x) / (1 + exp(x))` is then
    Inf/Inf = NaN, although the result that was meant is 1.

    ## Example
    ```python
    import tensorflow as tf

    x = tf.Variable([1.0, 100.0], name="x")
    with tf.GradientTape() as tape:
        p = tf.exp(x) / (1.0 + tf.exp(x))
        loss = tf.reduce_sum(p)
    gradients = tape.gradient(loss, [x])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    x = tf.Variable([1.0, 100.0], name="x")
    with tf.GradientTape() as tape:
        p = tf.sigmoid(x)
        loss = tf.reduce_sum(p)
    gradients = tape.gradient(loss, [x])
    ```

    ## Known limits
    Found in eager steps by replaying the step; inside compiled steps the inputs of the step must still be at hand.
    """
    yield from explain(recording, "nan-exp", _words, _fixes)


def _fixes(born: Nonfinite, op: FailingOp) -> Iterator[Fix]:
    fed = grown_from(op)
    if op.kind is OpKind.SOFTMAX:
        return finite_mask(born.where)
    return exponential(born.where if fed is None or fed.where is None else fed.where)


def _words(born: Nonfinite, op: FailingOp) -> tuple[str, str, str]:
    if op.kind is OpKind.SOFTMAX:
        help = (
            "mask with a large negative number instead of -inf (`-1e9`), so that a row without any element stays finite"
        )
        return (
            f"{expression(born)} has a row in which all elements are -inf",
            "divides zero by zero in such a row",
            help,
        )
    help = f"use a function that stays in range: `{Word.SOFTMAX}`, `{Word.SIGMOID}`, `{Word.SOFTPLUS}`, "
    help += f"`{Word.LOG_SUM_EXP}`; "
    help += f"or bound the exponent: `{Word.EXP}({Word.MINIMUM}(x, 20.0))`"
    fed = grown_from(op)
    if fed is not None and fed.where is not None:
        return f"{expression(born)} overflows: {text_of(fed.where)} has made a huge number", "overflows here", help
    dtype = born.value.dtype if born.value is not None else "the dtype"
    largest = "" if not op.inputs or op.inputs[0].high is None else f" of {op.inputs[0].high:.4g}"
    return (f"{expression(born)} overflows: an exponential{largest} is more than {dtype} holds", "overflows here", help)
