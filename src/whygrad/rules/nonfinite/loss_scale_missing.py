"""WG416 loss-scale-missing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Label, Severity, Steps, Word
from whygrad.fixes.networks import scaled_loss
from whygrad.graph import Recording
from whygrad.graph.nonfinite import Scaled, Scaling
from whygrad.rules.rule import Finding, rule
from whygrad.rules.thresholds import LOST_IN_CAST
from whygrad.rules.wording import asked_at, listing, names


@rule("WG416", "loss-scale-missing", severity=Severity.ERROR, since="0.1.0")
def loss_scale_missing(recording: Recording) -> Iterator[Finding]:
    """Detects a loss that nobody scaled, where float16 or the optimizer needs it to be.

    ## Why it matters
    `LossScaleOptimizer.apply` divides every gradient by its scale, 32768 at first. `fit` multiplies the loss by the
    same number; a custom loop must do it itself. Without it every update is 32768 times too small, and nothing says
    so. Without a `LossScaleOptimizer`, gradients below 6e-8 become zero in float16, and nothing trains.

    ## Example
    ```python
    import tensorflow as tf
    import keras

    w = tf.Variable([1.0, 2.0], name="w")
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(w))
    gradients = tape.gradient(loss, [w])
    optimizer.apply_gradients(zip(gradients, [w]))
    ```

    ## Use instead
    ```python
    import tensorflow as tf
    import keras

    w = tf.Variable([1.0, 2.0], name="w")
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(w))
        scaled = optimizer.scale_loss(loss)
    gradients = tape.gradient(scaled, [w])
    optimizer.apply_gradients(zip(gradients, [w]))
    ```

    ## Known limits
    A loss that is multiplied by a number of one's own choice counts as not scaled, unless that number comes into a
    compiled function from outside or is kept in a variable. Gradients that are lost in float16 are looked for in
    compiled steps, and reported where whole variables get none.
    """
    for event in recording.events_of(Scaled):
        if event.how is Scaling.CAST and event.variables and event.lost >= LOST_IN_CAST * event.of:
            yield _lost(recording, event)
        elif event.how is Scaling.DIVIDED:
            yield _divided(recording, event)


def _lost(recording: Recording, event: Scaled) -> Finding:
    variables = names(recording, event.variables)
    return Finding(
        message=f"the gradient of {listing(variables)} is zero: it is too small for float16, and the loss was not scaled",
        primary=None if event.where is None else Label(event.where, "cast to float16 in the backward pass"),
        variables=variables,
        related=_asked(event),
        notes=(f"{event.lost} of {event.of} elements become zero there: float16 ends at 6e-8",),
        help=f"wrap the optimizer in `{Word.LOSS_SCALER}` and take the gradient of "
        "`optimizer.scale_loss(loss)`, or use bfloat16",
    )


def _divided(recording: Recording, event: Scaled) -> Finding:
    factor = "its loss scale" if event.factor is None else f"{event.factor:g}"
    return Finding(
        message=f"every update by `{event.optimizer}` is {factor} times too small: the loss was not scaled",
        primary=None if event.where is None else Label(event.where, f"divides the gradients by {factor}"),
        variables=asked_at(recording, event.when.request),
        related=_asked(event),
        help="scale the loss inside the tape: `loss = optimizer.scale_loss(loss)`",
        steps=Steps(event.when.seen, event.when.seen),
        fixes=partial(scaled_loss, event.where, event.when.request),
    )


def _asked(event: Scaled) -> tuple[Label, ...]:
    request = event.when.request
    return () if request is None else (Label(request, "gradients of the loss as it is"),)
