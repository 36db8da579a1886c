"""WG304 duplicate-sparse-rows."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity, Steps
from whygrad.graph import Recording
from whygrad.graph.event import RowsOverwritten
from whygrad.rules.missing import text_of, variable_name
from whygrad.rules.rule import Finding, rule


@rule("WG304", "duplicate-sparse-rows", severity=Severity.ERROR, since="0.1.0")
def duplicate_sparse_rows(recording: Recording) -> Iterator[Finding]:
    """Detects sparse gradients whose repeated rows overwrite one another when they are applied.

    ## Why it matters
    The gradient of a lookup has one row for every use of an entry, so a word that occurs three times is in it three
    times. A write that puts rows in place of others keeps one of the three steps and drops two, without a word.

    ## Example
    ```python
    import tensorflow as tf

    table = tf.Variable(tf.ones((6, 2)), name="table")
    words = tf.constant([3, 3, 3, 1])
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.embedding_lookup(table, words) ** 2)
        gradients = tape.gradient(loss, [table])
        rows = tf.gather(table, gradients[0].indices)
        table.scatter_nd_update(gradients[0].indices[:, None], rows - 0.1 * gradients[0].values)
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    table = tf.Variable(tf.ones((6, 2)), name="table")
    words = tf.constant([3, 3, 3, 1])
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.embedding_lookup(table, words) ** 2)
        gradients = tape.gradient(loss, [table])
        table.scatter_nd_sub(gradients[0].indices[:, None], 0.1 * gradients[0].values)
    ```

    ## Known limits
    Seen where the write runs at once, not inside compiled functions. The optimizers of Keras are not looked at:
    `whygrad.deduplicate` sums repeated rows for those that treat them differently.
    """
    for event in recording.events_of(RowsOverwritten):
        name = variable_name(recording.variables[event.variable])
        several = "a row that occurs" if event.repeated == 1 else f"{event.repeated} rows that occur"
        yield Finding(
            message=f"{several} more than once in the gradient of `{name}` is moved by one of its gradients only"
            if event.repeated == 1
            else f"{several} more than once in the gradient of `{name}` are moved by one of their gradients only",
            primary=None if event.where is None else Label(event.where, "the last write of a row replaces the others"),
            variables=(name,),
            notes=(f"{event.repeated} of {event.rows} rows are repeated in {text_of(event.where)}",),
            help="add in place of overwriting (`scatter_nd_sub`, `scatter_sub`), or sum the repeated rows first",
            steps=Steps(event.seen, event.of),
        )
