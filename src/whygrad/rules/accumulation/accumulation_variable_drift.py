"""WG503 accumulation-variable-drift."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity, Steps
from whygrad.graph import Recording
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, variable_name


@rule("WG503", "accumulation-variable-drift", severity=Severity.ERROR, since="0.1.0")
def accumulation_variable_drift(recording: Recording) -> Iterator[Finding]:
    """Detects accumulators in which gradients of different variables are added up.

    ## Why it matters
    Accumulators that are paired with gradients by position mix two variables as soon as the list of trainable
    variables changes between micro-batches: a layer is unfrozen, a new one is built. Where the shapes agree nothing
    fails.

    ## Example
    ```python
    import keras
    import tensorflow as tf

    a = tf.Variable([1.0, 2.0], name="a")
    b = tf.Variable([3.0, 4.0], name="b")
    optimizer = keras.optimizers.SGD(0.1)
    total = tf.zeros(2)
    for variables in ([a], [b, a]):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(a * b)) / 2.0
        gradients = tape.gradient(loss, variables)
        total = total + gradients[0]
    optimizer.apply_gradients([(total, a)])
    ```

    ## Use instead
    ```python
    import keras
    import tensorflow as tf

    a = tf.Variable([1.0, 2.0], name="a")
    b = tf.Variable([3.0, 4.0], name="b")
    optimizer = keras.optimizers.SGD(0.1)
    totals = {a.ref(): tf.zeros(2), b.ref(): tf.zeros(2)}
    for variables in ([a], [b, a]):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(a * b)) / 2.0
        gradients = tape.gradient(loss, variables)
        for variable, gradient in zip(variables, gradients):
            totals[variable.ref()] += gradient
    optimizer.apply_gradients([(total, reference.deref()) for reference, total in totals.items()])
    ```

    ## Known limits
    Gradients of several networks that are averaged and applied to another one are taken as meant.
    """
    for update in recording.updates:
        mixed = [
            p for p in update.pairs if p.mixed is not None and p.variable in (p.gradient_of or ()) and p.requests > 1
        ]
        if not mixed:
            continue
        first = mixed[0]
        names = tuple(sorted(variable_name(recording.variables[n]) for n in first.gradient_of or ()))
        where = first.mixed or update.where
        yield Finding(
            message=f"gradients of different variables are added up in one accumulator: {listing(names)}",
            primary=None if where is None else Label(where, "another variable's gradient is added here"),
            variables=names,
            related=() if update.where in (None, where) else (Label(update.where, "applied here"),),
            help="fix the list of variables before accumulating, and key the accumulators by variable, not by position",
            steps=Steps(update.seen, update.seen),
        )
