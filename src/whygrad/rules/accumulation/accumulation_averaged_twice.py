"""WG507 accumulation-averaged-twice."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity, Steps
from whygrad.graph import Pairing, Recording
from whygrad.rules.missing import listing, variable_name
from whygrad.rules.rule import Finding, rule


@rule("WG507", "accumulation-averaged-twice", severity=Severity.WARNING, since="0.1.0")
def accumulation_averaged_twice(recording: Recording) -> Iterator[Finding]:
    """Detects accumulated gradients that are divided by the number of micro-batches twice.

    ## Why it matters
    Dividing each loss by K and the sum of the gradients by K again makes the step K times too short.

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
        gradients = tape.gradient(loss, [w])
        total = total + gradients[0]
    optimizer.apply_gradients([(total / len(batches), w)])
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
            loss = tf.reduce_mean(tf.square(w - batch))
        gradients = tape.gradient(loss, [w])
        total = total + gradients[0]
    optimizer.apply_gradients([(total / len(batches), w)])
    ```

    ## Known limits
    Only constant factors are followed.
    """
    for update in recording.updates:
        short = [pair for pair in update.pairs if _is_twice(pair)]
        if not short:
            continue
        count = short[0].requests
        names = tuple(variable_name(recording.variables[pair.variable]) for pair in short)
        yield Finding(
            message=f"the accumulated gradient of {listing(names)} is likely averaged twice: divided by {count} two times",
            primary=None
            if update.where is None
            else Label(update.where, f"{count} micro-batches, each weighed 1/{count * count}"),
            variables=names,
            help=f"divide once: either each loss or the sum by {count}",
            steps=Steps(update.seen, update.seen),
            certain=False,
        )


def _is_twice(pair: Pairing) -> bool:
    if pair.requests < 2 or pair.scale is None or not pair.same_place or pair.compiled or pair.stale:
        return False
    return pair.mean and abs(pair.scale * pair.requests * pair.requests - 1.0) < 1e-5
