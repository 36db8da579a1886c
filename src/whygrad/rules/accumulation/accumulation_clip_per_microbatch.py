"""WG505 accumulation-clip-per-microbatch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Recording
from whygrad.graph.event import GradientChange
from whygrad.rules.rule import Finding, rule


@rule("WG505", "accumulation-clip-per-microbatch", severity=Severity.WARNING, since="0.1.0")
def accumulation_clip_per_microbatch(recording: Recording) -> Iterator[Finding]:
    """Detects gradients that are clipped for each micro-batch before they are added up.

    ## Why it matters
    Clipping is not linear: the sum of clipped gradients is not the clipped sum. One large micro-batch loses its
    weight, and the direction differs from that of the big batch.

    ## Example
    ```python
    import keras
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0], name="w")
    optimizer = keras.optimizers.SGD(0.1)
    batches = [tf.constant([1.0, 3.0]), tf.constant([2.0, 4.0])]
    total = tf.zeros_like(w)
    for batch in batches:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(w - batch)) / len(batches)
        gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, [w]), 0.1)
        total = total + gradients[0]
    optimizer.apply_gradients([(total, w)])
    ```

    ## Use instead
    ```python
    import keras
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0], name="w")
    optimizer = keras.optimizers.SGD(0.1)
    batches = [tf.constant([1.0, 3.0]), tf.constant([2.0, 4.0])]
    total = tf.zeros_like(w)
    for batch in batches:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(w - batch)) / len(batches)
        gradients = tape.gradient(loss, [w])
        total = total + gradients[0]
    gradients, _ = tf.clip_by_global_norm([total], 0.1)
    optimizer.apply_gradients(zip(gradients, [w]))
    ```

    ## Known limits
    Where noise is added to the sum (differentially private training) the clipping is taken as meant.
    """
    sums = [event for event in recording.events_of(GradientChange) if event.clipped is not None and not event.unused]
    on_purpose = {(event.clipped, event.summed) for event in sums if event.noised}
    for event in dict.fromkeys(replace(event, asked=None) for event in sums):
        where = event.clipped
        if (where, event.summed) in on_purpose:
            continue
        yield Finding(
            message="gradients are clipped for each micro-batch before they are added up: likely meant for the sum",
            primary=None if where is None else Label(where, "clips one micro-batch"),
            related=() if event.summed in (None, where) else (Label(event.summed, "added up here, after clipping"),),
            help="add up the unclipped gradients and clip once, right before `apply_gradients`",
            certain=False,
        )
