"""WG102 no-registered-gradient."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Fix, Label, Severity, Word
from whygrad.fixes.sources import with_gradient
from whygrad.graph import Op, Recording, Request
from whygrad.graph.questions.query import Reason, index_of
from whygrad.rules.no_gradient.claim import claim
from whygrad.rules.no_gradient.missing import MissingCut, missing_of
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, names_of, steps_of


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
    told = {id(missing.request) for missing in missing_of(recording).cuts if _is_told(missing)}
    for request in recording.requests:
        if id(request) not in told:
            yield from _named_by_the_error(recording, request)
    yield from claim(
        recording,
        lambda missing: missing.cut.reason is Reason.UNREGISTERED,
        because=lambda cut: f"{Word.FRAMEWORK} has no gradient for `{cut.op.name}`",
        label=lambda cut: f"{cut.op.name} has no registered gradient",
        help=lambda cut: f"write this with ops that have a gradient, or give it one with `{Word.CUSTOM_GRADIENT}`",
        fixes=lambda missing: _other_ops(missing.request, missing.cut.op),
    )


def _is_told(missing: MissingCut) -> bool:
    """Whether a cut explains the error of its request, by this rule or by that of its kind."""
    error = missing.request.error
    return missing.cut.reason is Reason.UNREGISTERED or (error is not None and error.op == missing.cut.op.name)


def _named_by_the_error(recording: Recording, request: Request) -> Iterator[Finding]:
    """The variables have other paths too, but the framework raises for one of them all the same."""
    name = None if request.error is None else request.error.op
    if name is None:
        return
    index = index_of(request.graph)
    behind = index.behind(request.targets)
    ops = [op for op in request.graph.ops if op.name == name and any(tensor in behind for tensor in op.outputs)]
    op = next((op for op in reversed(ops) if op.where is not None), None)
    names = names_of(recording, request, request.sources)
    again = " again" if op is not None and op.derivative_of is not None else ""
    yield Finding(
        message=f"no gradient reaches {listing(names)}: {Word.FRAMEWORK} cannot differentiate `{name}`",
        primary=None if op is None or op.where is None else Label(op.where, f"cannot be differentiated{again}"),
        variables=names,
        related=() if request.where is None else (Label(request.where, "asked for here"),),
        help=f"write this with ops that have a gradient, or give it one with `{Word.CUSTOM_GRADIENT}`",
        steps=steps_of(recording, [request]),
        fixes=partial(_other_ops, request, op),
    )


def _other_ops(request: Request, op: Op | None) -> Iterator[Fix]:
    """The op, or the one that it is a derivative of, in ops that can be differentiated."""
    if op is not None:
        for each in (*(each for each in request.graph.ops if each.id == op.derivative_of), op):
            yield from with_gradient(each.where)
