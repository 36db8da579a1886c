"""WG113 state-boundary."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Severity
from whygrad.graph import Recording
from whygrad.graph.questions.query import Reason
from whygrad.rules.no_gradient.claim import claim
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import text_of


@rule("WG113", "state-boundary", severity=Severity.ERROR, since="0.1.0")
def state_boundary(recording: Recording) -> Iterator[Finding]:
    """Detects values that reach the loss only through a data set, a queue, a table or other state.

    ## Why it matters
    A `tf.data` pipeline, a queue or a lookup table stores values and hands them out again; gradients are not stored
    with them.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0, 3.0], name="w")
    with tf.GradientTape() as tape:
        loss = tf.constant(0.0)
        for row in tf.data.Dataset.from_tensor_slices(w * 2.0):
            loss += tf.square(row)
    gradients = tape.gradient(loss, [w])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0, 3.0], name="w")
    with tf.GradientTape() as tape:
        loss = tf.constant(0.0)
        for row in tf.unstack(w * 2.0):
            loss += tf.square(row)
    gradients = tape.gradient(loss, [w])
    ```

    ## Known limits
    State kept in Python objects is not seen.
    """
    yield from claim(
        recording,
        lambda missing: missing.cut.reason is Reason.STATE,
        because=lambda cut: "its value goes through state that keeps no gradients",
        label=lambda cut: f"{cut.op.name}: stored without its history",
        help=lambda cut: f"feed the tensor to the loss directly instead of through {text_of(cut.op.where)}",
    )
