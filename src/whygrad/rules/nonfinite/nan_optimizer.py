"""WG413 nan-optimizer."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Recording
from whygrad.graph.nonfinite import NonfiniteUpdate
from whygrad.rules.nonfinite.birth import evidence, names
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing


@rule("WG413", "nan-optimizer", severity=Severity.ERROR, since="0.1.0")
def nan_optimizer(recording: Recording) -> Iterator[Finding]:
    """Detects an optimizer that makes weights NaN although the loss and the gradients are finite.

    ## Why it matters
    Adam divides by the root of a running mean plus `epsilon`. The default 1e-7 is zero in float16, so an element
    whose gradient is zero becomes 0/0. Everything one usually checks, the loss and the gradients, is finite.

    ## Example
    ```python
    import tensorflow as tf
    import keras

    w = tf.Variable(tf.constant([0.5, -0.5], tf.float16), name="w")
    x = tf.constant([1.0, 0.0], tf.float16)
    optimizer = keras.optimizers.Adam(1e-2, epsilon=1e-8)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(w * x))
    gradients = tape.gradient(loss, [w])
    optimizer.apply_gradients(zip(gradients, [w]))
    ```

    ## Use instead
    ```python
    import tensorflow as tf
    import keras

    w = tf.Variable(tf.constant([0.5, -0.5], tf.float16), name="w")
    x = tf.constant([1.0, 0.0], tf.float16)
    optimizer = keras.optimizers.Adam(1e-2, epsilon=1e-4)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(w * x))
    gradients = tape.gradient(loss, [w])
    optimizer.apply_gradients(zip(gradients, [w]))
    ```

    ## Known limits
    An update is noticed at the next gradient that is asked for, or at the end of the run. The expression that makes the
    first bad value is shown where it is in an optimizer or a schedule of one's own.
    """
    for update in recording.events_of(NonfiniteUpdate):
        variables = names(recording, update.variables)
        yield Finding(
            message=f"the update by `{update.optimizer}` leaves {listing(variables)} not finite: "
            "its gradient and its value were finite before",
            primary=_primary(update),
            variables=variables,
            related=_related(update),
            notes=_notes(update),
            help=_help(update),
        )


def _primary(update: NonfiniteUpdate) -> Label | None:
    if update.born is not None and update.born.where is not None:
        return Label(update.born.where, "the first bad value is made here")
    return None if update.where is None else Label(update.where, "the first bad value is made in here")


def _related(update: NonfiniteUpdate) -> tuple[Label, ...]:
    asked = () if update.born is None or update.where is None else (Label(update.where, "in this update"),)
    return asked if update.made is None else (*asked, Label(update.made, "made here"))


def _notes(update: NonfiniteUpdate) -> tuple[str, ...]:
    if update.born is not None:
        return evidence(update.born)
    if update.epsilon_vanishes:
        return (f"epsilon={update.epsilon:g} is zero in {update.dtype}: where a gradient is zero, 0/0 is NaN",)
    return (f"{update.dtype} variables",) if update.dtype else ()


def _help(update: NonfiniteUpdate) -> str:
    if update.born is not None:
        return (
            "a gradient, a weight or the step number may be zero: keep this finite then, for example "
            "`ops.where(norm > 0, ratio, 1.0)` around a divisor that is never zero itself"
        )
    if update.epsilon_vanishes:
        return (
            "keep the variables in float32 (`mixed_float16` does), or use `epsilon=1e-4` or more for float16 variables"
        )
    return "look at the learning rate and at epsilon: the step itself overflows, or divides by zero"
