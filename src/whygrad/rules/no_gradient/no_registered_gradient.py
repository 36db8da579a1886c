"""WG102 no-registered-gradient."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Fix, Severity, Word
from whygrad.fixes.sources import with_gradient
from whygrad.graph import Op, OpKind, Recording, Request
from whygrad.graph.questions.query import Reason
from whygrad.rules.no_gradient.claim import claim, refusal, refused
from whygrad.rules.rule import Finding, rule


@rule("WG102", "no-registered-gradient", severity=Severity.ERROR, since="0.1.0")
def no_registered_gradient(recording: Recording) -> Iterator[Finding]:
    """Detects ops on the path to the loss that TensorFlow has no gradient for at all.

    ## Why it matters
    Asking for a gradient through such an op raises `LookupError: gradient registry has no entry for: ...`, which
    names the op but not the expression that ran it.

    ## Example
    ```python
    import tensorflow as tf

    image = tf.Variable([[[0.2, 0.4, 0.6]], [[0.1, 0.9, 0.5]]], name="image")
    with tf.GradientTape() as tape:
        strong = tf.image.adjust_contrast(image, 2.0)
        loss = tf.reduce_sum(tf.square(strong))
    try:
        gradients = tape.gradient(loss, [image])
    except LookupError:
        gradients = [None]
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    image = tf.Variable([[[0.2, 0.4, 0.6]], [[0.1, 0.9, 0.5]]], name="image")
    with tf.GradientTape() as tape:
        mean = tf.reduce_mean(image, axis=(0, 1), keepdims=True)
        strong = mean + 2.0 * (image - mean)
        loss = tf.reduce_sum(tf.square(strong))
    gradients = tape.gradient(loss, [image])
    ```

    ## Known limits
    Only ops that the request reached before it raised are known to be on the path.
    """
    for request, op in refused(recording):
        again = " again" if op is not None and op.derivative_of is not None else ""
        if op is None or op.kind is not OpKind.SAMPLE:
            yield refusal(
                recording,
                request,
                op,
                what="" if request.error is None else f"`{request.error.op}`",
                label=f"cannot be differentiated{again}",
                help=f"write this with ops that have a gradient, or give it one with `{Word.CUSTOM_GRADIENT}`",
                fixes=partial(_other_ops, request, op),
            )
    yield from claim(
        recording,
        lambda missing: missing.cut.reason is Reason.UNREGISTERED,
        because=lambda cut: f"{Word.FRAMEWORK} has no gradient for `{cut.op.name}`",
        label=lambda cut: f"{cut.op.name} has no registered gradient",
        help=lambda cut: f"write this with ops that have a gradient, or give it one with `{Word.CUSTOM_GRADIENT}`",
        fixes=lambda missing: _other_ops(missing.request, missing.cut.op),
    )


def _other_ops(request: Request, op: Op | None) -> Iterator[Fix]:
    """The op, or the one that it is a derivative of, in ops that can be differentiated."""
    if op is not None:
        for each in (*(each for each in request.graph.ops if each.id == op.derivative_of), op):
            yield from with_gradient(each.where)
