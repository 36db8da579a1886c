"""WG506 accumulation-nonfinite."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity, Word
from whygrad.graph import Recording
from whygrad.graph.nonfinite import Stage
from whygrad.rules.nonfinite.birth import seen
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import variable_name


@rule("WG506", "accumulation-nonfinite", severity=Severity.ERROR, since="0.1.0")
def accumulation_nonfinite(recording: Recording) -> Iterator[Finding]:
    """Detects a micro-batch whose gradient is not finite and that takes the good ones of its window with it.

    ## Why it matters
    NaN plus anything is NaN: one micro-batch that overflows makes the whole sum useless, and applying it ends the
    training. Loss scaling does not help, because it looks at the sum only when it is too late for the others.

    ## Example
    ```python
    import keras
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0], name="w")
    optimizer = keras.optimizers.SGD(0.1)
    total = tf.zeros_like(w)
    for batch in (tf.constant([1.0, 3.0]), tf.constant([0.0, 4.0])):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.math.log(w * batch)) / 2.0
        total = total + tape.gradient(loss, w)
    optimizer.apply_gradients([(total, w)])
    ```

    ## Use instead
    ```python
    import keras
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0], name="w")
    optimizer = keras.optimizers.SGD(0.1)
    total = tf.zeros_like(w)
    for batch in (tf.constant([1.0, 3.0]), tf.constant([0.0, 4.0])):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.math.log(w * batch + 1e-6)) / 2.0
        gradient = tape.gradient(loss, w)
        if tf.reduce_all(tf.math.is_finite(gradient)):
            total = total + gradient
    optimizer.apply_gradients([(total, w)])
    ```

    ## Known limits
    Seen where the sum is passed to an optimizer at once, not inside a compiled function.
    """
    for event in seen(recording, Stage.SUMMED):
        if not 0 < event.bad_pieces < event.pieces:
            continue  # no gradient of the sum was finite, or it is not known
        names = tuple(variable_name(recording.variables[number]) for number in event.variables)
        bad = "one" if event.bad_pieces == 1 else str(event.bad_pieces)
        yield Finding(
            message=f"the gradients of {bad} of {event.pieces} micro-batches are not finite, and with them the sum that "
            "is applied",
            primary=None if event.where is None else Label(event.where, "a bad gradient is added to good ones"),
            related=() if event.used_at is None else (Label(event.used_at, "the sum is applied here"),),
            variables=names,
            help=f"add a micro-batch only if `{Word.IS_FINITE}` holds for its gradients; "
            "`whygrad.accumulate(optimizer, steps=..., nonfinite='microbatch')` does it under loss scaling",
        )
