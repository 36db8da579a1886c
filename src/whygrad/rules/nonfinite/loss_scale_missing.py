"""WG416 loss-scale-missing."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity, Steps
from whygrad.graph import Recording
from whygrad.graph.nonfinite import GradientUnderflow, LossUnscaled
from whygrad.rules.nonfinite.birth import names
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing


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
    A loss that is multiplied by a number of one's own choice counts as not scaled. In compiled steps nothing is said of
    an optimizer that has scaled any loss of the run. Gradients that are lost in float16
    are looked for in compiled steps, and reported where whole variables get none.
    """
    for underflow in recording.events_of(GradientUnderflow):
        asked = () if underflow.request is None else (Label(underflow.request, "gradients of the loss as it is"),)
        yield Finding(
            message=f"the gradient of {listing(names(recording, underflow.variables))} is zero: it is too small for "
            "float16, and the loss was not scaled",
            primary=None if underflow.where is None else Label(underflow.where, "on the way back, cast to float16"),
            variables=names(recording, underflow.variables),
            related=asked,
            notes=(f"{underflow.lost} of {underflow.of} elements become zero there: float16 ends at 6e-8",),
            help="wrap the optimizer in `keras.optimizers.LossScaleOptimizer` and take the gradient of "
            "`optimizer.scale_loss(loss)`, or use bfloat16",
        )
    for missing in recording.events_of(LossUnscaled):
        factor = "its loss scale" if missing.scale is None else f"{missing.scale:g}"
        yield Finding(
            message=f"every update by `{missing.optimizer}` is {factor} times too small: the loss was not scaled",
            primary=None if missing.where is None else Label(missing.where, f"divides the gradients by {factor}"),
            related=() if missing.request is None else (Label(missing.request, "gradients of the loss as it is"),),
            help="scale the loss inside the tape: `loss = optimizer.scale_loss(loss)`",
            steps=Steps(missing.seen, missing.seen),
        )
