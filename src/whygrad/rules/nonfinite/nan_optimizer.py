"""WG413 nan-optimizer."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Fix, Label, Severity
from whygrad.fixes.updates import option_changed
from whygrad.graph import Recording
from whygrad.graph.nonfinite import Nonfinite, Stage, UpdateFacts
from whygrad.rules.nonfinite.birth import evidence, seen
from whygrad.rules.rule import Finding, rule
from whygrad.rules.thresholds import ROUNDED_TO_ZERO
from whygrad.rules.wording import listing, names


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
    for event in seen(recording, Stage.UPDATE):
        if event.update is None:
            continue
        variables = names(recording, event.variables)
        yield Finding(
            message=f"the update by `{event.update.optimizer}` leaves {listing(variables)} not finite: "
            "its gradient and its value were finite before",
            primary=_primary(event),
            variables=variables,
            related=_related(event, event.update),
            notes=_notes(event, event.update),
            help=_help(event, event.update),
            fixes=partial(_fixes, event.update),
        )


def _fixes(update: UpdateFacts) -> Iterator[Fix]:
    if _epsilon_vanishes(update):
        yield from option_changed(update.made, "epsilon", "1e-4" if update.dtype == "float16" else "1e-7")


def _primary(event: Nonfinite) -> Label | None:
    if (
        event.op is None and event.update is not None and event.update.made is not None
    ):  # what is to be changed is there
        return Label(event.update.made, "this optimizer makes the first bad value")
    inside = "in " if event.op is None else ""
    return None if event.where is None else Label(event.where, f"the first bad value is made {inside}here")


def _related(event: Nonfinite, update: UpdateFacts) -> tuple[Label, ...]:
    if event.op is None:
        shown = None if update.made is None else event.where  # else it is the primary place
        return () if shown is None else (Label(shown, "in this update"),)
    asked = () if update.where is None else (Label(update.where, "in this update"),)
    return asked if update.made is None else (*asked, Label(update.made, "made here"))


def _notes(event: Nonfinite, update: UpdateFacts) -> tuple[str, ...]:
    if event.op is not None:
        return evidence(event)
    if _epsilon_vanishes(update):
        return (f"epsilon={update.epsilon:g} is zero in {update.dtype}: where a gradient is zero, 0/0 is NaN",)
    return (f"{update.dtype} variables",) if update.dtype else ()


def _help(event: Nonfinite, update: UpdateFacts) -> str:
    if event.op is not None:
        return (
            "a gradient, a weight or the step number may be zero: keep this finite then, for example "
            "`ops.where(norm > 0, ratio, 1.0)` around a divisor that is never zero itself"
        )
    if _epsilon_vanishes(update):
        return (
            "keep the variables in float32 (`mixed_float16` does), or use `epsilon=1e-4` or more for float16 variables"
        )
    return "look at the learning rate and at epsilon: the step itself overflows, or divides by zero"


def _epsilon_vanishes(update: UpdateFacts) -> bool:
    """Whether epsilon is zero in the dtype of the variables."""
    smallest = ROUNDED_TO_ZERO.get(update.dtype, 0.0)
    return update.epsilon is not None and abs(update.epsilon) <= smallest
