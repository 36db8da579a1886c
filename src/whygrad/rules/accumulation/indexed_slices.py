"""WG508 indexed-slices."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Recording
from whygrad.rules.rule import Finding, rule


@rule("WG508", "indexed-slices", severity=Severity.ERROR, since="0.1.0")
def indexed_slices(recording: Recording) -> Iterator[Finding]:
    """Detects sparse gradients that are added up as if they were dense tensors.

    ## Why it matters
    The gradient of an embedding is a `tf.IndexedSlices`: rows and their indices. `+` does not work on two of them,
    and the exception names the type but not the way out.

    ## Example
    ```python
    import tensorflow as tf

    table = tf.Variable(tf.ones((4, 2)), name="table")
    total = None
    for rows in ([0, 1], [1, 2]):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, rows))
        gradient = tape.gradient(loss, table)
        total = gradient if total is None else total + gradient
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    table = tf.Variable(tf.ones((4, 2)), name="table")
    total = None
    for rows in ([0, 1], [1, 2]):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, rows))
        gradient = tf.convert_to_tensor(tape.gradient(loss, table))
        total = gradient if total is None else total + gradient
    gradients = [total]
    ```

    ## Known limits
    Only what ended the run is seen.
    """
    failure = recording.failure
    if failure is None or failure.type_name not in ("TypeError", "AttributeError", "ValueError"):
        return
    if "IndexedSlices" not in failure.message and "IndexedSlices" not in (failure.object_type or ""):
        return
    yield Finding(
        message="a sparse gradient (`tf.IndexedSlices`) is used like a dense tensor",
        primary=None if failure.where is None else Label(failure.where, "this works on dense tensors only"),
        help="make it dense first (`tf.convert_to_tensor(gradient)`), or add it to a variable: `total.assign_add(gradient)`",
    )
