"""WG704 loss-arguments-swapped."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from whygrad.diagnostics import Label, Severity
from whygrad.fixes.losses import exchanged
from whygrad.graph import FailureKind, Op, OpKind, Recording, Request, TensorId
from whygrad.graph.questions.query import Index, index_of
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import steps_of

_ORDER: Final = "the first argument is the label, the second the prediction"
_HELP: Final = "name the arguments: `labels=..., logits=...`, or `loss(y_true, y_pred)`"


@rule("WG704", "loss-arguments-swapped", severity=Severity.ERROR, since="0.1.0")
def loss_arguments_swapped(recording: Recording) -> Iterator[Finding]:
    """Detects losses whose labels and predictions are exchanged.

    ## Why it matters
    Keras losses take `(y_true, y_pred)`, most other libraries the other way round. A cross-entropy of exchanged
    arguments still has a gradient, of another function: it can even go below zero.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable([[0.1, 0.2, 0.3]], name="w")
    labels = tf.constant([[1.0, 0.0, 0.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(w * 2.0, labels))
    gradients = tape.gradient(loss, [w])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable([[0.1, 0.2, 0.3]], name="w")
    labels = tf.constant([[1.0, 0.0, 0.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=w * 2.0))
    gradients = tape.gradient(loss, [w])
    ```

    ## Known limits
    Losses that are the same both ways round (squared and absolute error) are not reported.
    """
    failure = recording.failure
    if failure is not None and failure.kind is FailureKind.LABELS_LARGER and failure.where is not None:
        yield Finding(
            message="labels and predictions are likely exchanged: what stands for the labels has more axes than what "
            "stands for the predictions",
            primary=Label(failure.where, _ORDER),
            help=_HELP,
            certain=False,
            fixes=partial(exchanged, failure.where),
        )
    for request in recording.requests:
        index = index_of(request.graph)
        for op in request.graph.ops:
            if (
                op.kind is OpKind.CROSS_ENTROPY
                and len(op.inputs) == 2
                and op.where is not None
                and _swapped(index, request, op)
            ):
                yield Finding(
                    message="labels and predictions are exchanged: the labels are trained, the predictions are constant",
                    primary=Label(op.where, _ORDER),
                    help=_HELP,
                    fixes=partial(exchanged, op.where),
                    steps=steps_of(recording, [request]),
                )


def _swapped(index: Index, request: Request, op: Op) -> bool:
    prediction, label = op.inputs
    return not _is_trained(index, request, prediction) and _is_trained(index, request, label)


def _is_trained(index: Index, request: Request, tensor: TensorId) -> bool:
    asked = {source.variable for source in request.sources}
    behind = index.open_behind([tensor], request.tape)
    return any(op.kind is OpKind.READ and op.variable in asked for t in behind for op in index.makers.get(t, ()))
