"""WG605 writer-war."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity, Steps
from whygrad.graph import Recording
from whygrad.graph.ledger import Write, WriterKind
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing
from whygrad.source import SourceSpan

ENOUGH = 3  # steps that both write in
_LOOKED_AT = 64


@rule("WG605", "writer-war", severity=Severity.NOTE, since="0.1.0")
def writer_war(recording: Recording) -> Iterator[Finding]:
    """Detects variables that both an optimizer and user code write to, step after step.

    ## Why it matters
    Clipping weights after an update and projecting them are meant. A reset, a copy or a schedule that was forgotten
    looks the same from outside: what the optimizer learns is written over in every step, and nothing says so.

    ## Example
    ```python
    import keras
    import tensorflow as tf

    w = tf.Variable([2.0, -3.0], name="w")
    start = tf.constant([2.0, -3.0])
    optimizer = keras.optimizers.SGD(0.1)
    for step in range(4):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(w))
        gradients = tape.gradient(loss, [w])
        optimizer.apply_gradients(zip(gradients, [w]))
        w.assign(start)
    ```

    ## Use instead
    ```python
    import keras
    import tensorflow as tf

    w = tf.Variable([2.0, -3.0], name="w")
    optimizer = keras.optimizers.SGD(0.1)
    for step in range(4):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(w))
        gradients = tape.gradient(loss, [w])
        optimizer.apply_gradients(zip(gradients, [w]))
    ```

    ## Known limits
    It is a note: whether the second writer is meant cannot be seen. Planned edits (`wg.edit`) say that they are, and
    are not noted.
    """
    ledger = recording.ledger
    updates: dict[int, list[Write]] = {}
    for write in ledger.by(WriterKind.OPTIMIZER):
        updates.setdefault(write.variable, []).append(write)
    by_place: dict[SourceSpan, dict[str, int]] = {}
    for write in ledger.by(WriterKind.USER):
        shared = _shared_steps(write, updates.get(write.variable, []))
        if write.where is not None and shared >= ENOUGH:
            by_place.setdefault(write.where, {})[ledger.name_of(write)] = shared
    for where, names in by_place.items():
        verb = "is" if len(names) == 1 else "are"
        yield Finding(
            message=f"{listing(tuple(names))} {verb} written by this line and by the optimizer, step after step",
            primary=Label(where, "the second writer"),
            variables=tuple(names),
            notes=("`whygrad show latest --variables` lists every writer of a variable of a recorded run",),
            help="if it is intended, use `wg.edit.Schedule` or `wg.edit.ClipWeights`, which say so; "
            "if not, write to another variable",
            steps=Steps(max(names.values()), ledger.steps),
        )


def _shared_steps(write: Write, updates: list[Write]) -> int:
    """How many of the first steps that one writes at the others write at too."""
    steps = (s for stretch in write.steps for s in range(stretch.first, stretch.last + 1, stretch.every or 1) if s)
    looked = [step for step, _ in zip(steps, range(_LOOKED_AT), strict=False)]
    return sum(any(update.at(step) for update in updates) for step in looked)
