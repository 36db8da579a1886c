"""WG112 assign-breaks-gradient."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Severity
from whygrad.fixes.states import carried, unwrapped
from whygrad.graph import Recording
from whygrad.graph.questions.query import Reason
from whygrad.rules.no_gradient.claim import claim
from whygrad.rules.rule import Finding, rule


@rule("WG112", "assign-breaks-gradient", severity=Severity.ERROR, since="0.1.0")
def assign_breaks_gradient(recording: Recording) -> Iterator[Finding]:
    """Detects values that reach the loss only through a variable they were written into.

    ## Why it matters
    `assign`, a new `tf.Variable(tensor)` and a metric's state keep a number, not its history. Reading the variable
    back gives a value that the tape cannot follow to where it came from.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable(2.0, name="w")
    copy = tf.Variable(0.0, name="copy", trainable=False)
    with tf.GradientTape() as tape:
        copy.assign(w * 3.0)
        loss = tf.square(copy - 1.0)
    gradients = tape.gradient(loss, [w])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable(2.0, name="w")
    with tf.GradientTape() as tape:
        copy = w * 3.0
        loss = tf.square(copy - 1.0)
    gradients = tape.gradient(loss, [w])
    ```

    ## Known limits
    Writes by an optimizer are not followed: they are what training is.
    """
    yield from claim(
        recording,
        lambda missing: missing.cut.reason is Reason.WRITTEN and missing.cut.op.custom is None,
        because=lambda cut: "its value reaches the loss only through a variable it was written into",
        label=lambda cut: "written into a variable: the gradient does not follow",
        help=lambda cut: "use the tensor itself in the loss instead of writing it and reading it back",
        fixes=lambda missing: (*unwrapped(missing.cut.op.where), *carried(missing.cut.op.where)),
    )
