"""WG704 loss-arguments-swapped."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from whygrad.diagnostics import Label, Severity
from whygrad.fixes.losses import exchanged
from whygrad.graph import FailureKind, Recording
from whygrad.graph.questions.exchanged import exchanged_losses
from whygrad.graph.questions.misfit import misfits
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
    larger = failure is not None and failure.kind is FailureKind.LABELS_LARGER
    if larger and failure is not None and failure.where is not None and not any(misfits(recording)):
        yield Finding(
            message="labels and predictions are likely exchanged: what stands for the labels has more axes than what "
            "stands for the predictions",
            primary=Label(failure.where, _ORDER),
            help=_HELP,
            certain=False,
            fixes=partial(exchanged, failure.where),
        )
    for request, op in exchanged_losses(recording):
        yield Finding(
            message="labels and predictions are exchanged: the labels are trained, the predictions are constant",
            primary=None if op.where is None else Label(op.where, _ORDER),
            help=_HELP,
            fixes=partial(exchanged, op.where),
            steps=steps_of(recording, [request]),
        )
