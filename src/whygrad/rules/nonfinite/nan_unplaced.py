"""WG419 nan-unplaced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from whygrad.diagnostics import Label, Severity, Word
from whygrad.graph import Recording
from whygrad.graph.nonfinite import Stage
from whygrad.rules.nonfinite.birth import seen, steps_of, symptom
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import names

_AGAIN: Final = (
    "run it again with `whygrad run --find-nan`, which keeps what a replay needs; on one device if there were several"
)
_BETWEEN: Final = (
    f"look at what is computed with the gradients after `{Word.GRADIENT}` and before the update: a logarithm, a root or "
    "a quotient of them may not be finite"
)


@rule("WG419", "nan-unplaced", severity=Severity.WARNING, since="0.1.0")
def nan_unplaced(recording: Recording) -> Iterator[Finding]:
    """Detects a loss or gradient that is not finite and whose origin could not be found.

    ## Why it matters
    The number is bad, that much is certain. Where it was made is not known: the step drew random numbers that
    cannot be drawn again, took its batch from inside a compiled function, or ran Python code that must not run
    twice and gave more than is kept of it.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0], name="w")

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            scales = tf.py_function(lambda: tf.fill((200, 200), float("nan")), [], tf.float32)
            loss = tf.reduce_sum(w) * tf.reduce_mean(tf.ensure_shape(scales, (200, 200)))
        gradients = tape.gradient(loss, [w])
        w.assign_sub(0.1 * gradients[0])
        return loss

    step()
    gradients = [w]
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0], name="w")

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w) * 0.5
        gradients = tape.gradient(loss, [w])
        w.assign_sub(0.1 * gradients[0])
        return loss

    step()
    gradients = [w]
    ```

    ## Known limits
    This is what is said where nothing better can be.
    """
    for unplaced in seen(recording, Stage.UNPLACED):
        variables = names(recording, unplaced.variables)
        first = f"first at step {unplaced.when.step}"
        yield Finding(
            message=f"{symptom(recording, unplaced.when)}; where it was made could not be found: {unplaced.reason}",
            primary=None if unplaced.where is None else Label(unplaced.where, "seen here"),
            variables=variables,
            notes=(first,) if unplaced.when.step > 1 else (),
            help=_AGAIN if unplaced.update is None else _BETWEEN,
            steps=steps_of(unplaced.when),
            severity=Severity.NOTE if unplaced.when.went_on else None,
        )
