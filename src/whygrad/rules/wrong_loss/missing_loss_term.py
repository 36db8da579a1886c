"""WG702 missing-loss-term."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Recording
from whygrad.graph.event import LayerCalled
from whygrad.rules.missing import listing
from whygrad.rules.rule import Finding, rule


@rule("WG702", "missing-loss-term", severity=Severity.ERROR, since="0.1.0")
def missing_loss_term(recording: Recording) -> Iterator[Finding]:
    """Detects regularisers and added losses that a custom loop's loss leaves out.

    ## Why it matters
    `kernel_regularizer`, `activity_regularizer` and `add_loss` only collect terms in `model.losses`. `fit` adds
    them; a loop of your own must do it, or they have no effect at all.

    ## Example
    ```python
    import keras
    import tensorflow as tf

    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1, kernel_regularizer="l2")])
    x = tf.ones((4, 2))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - 1.0))
    gradients = tape.gradient(loss, model.trainable_variables)
    ```

    ## Use instead
    ```python
    import keras
    import tensorflow as tf

    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1, kernel_regularizer="l2")])
    x = tf.ones((4, 2))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - 1.0)) + tf.add_n(model.losses)
    gradients = tape.gradient(loss, model.trainable_variables)
    ```

    ## Known limits
    Once `losses` is read under any tape it counts as used, whether or not it enters the loss.
    """
    asked = {source.variable for request in recording.requests for source in request.sources}
    for event in recording.events_of(LayerCalled):
        if not event.penalties or event.penalties_read or not asked & set(event.variables):
            continue
        yield Finding(
            message=f"the penalties of `{event.layer}` are not in the loss: {listing(event.penalties)}",
            primary=None
            if event.where is None
            else Label(event.where, "its `losses` are collected here and never used"),
            variables=event.penalties,
            help="add them to the loss under the tape: `loss + tf.add_n(model.losses)`",
        )
