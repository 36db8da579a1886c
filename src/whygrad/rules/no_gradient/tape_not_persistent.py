"""WG115 tape-not-persistent."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Label, Severity, Word
from whygrad.fixes.tapes import persistent
from whygrad.graph import FailureKind, Recording
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import names_of, steps_of


@rule("WG115", "tape-not-persistent", severity=Severity.ERROR, since="0.1.0")
def tape_not_persistent(recording: Recording) -> Iterator[Finding]:
    """Detects a second gradient asked of a tape that is used up by the first.

    ## Why it matters
    A plain `tf.GradientTape()` frees what it recorded when its first gradient is taken; the second request raises
    `RuntimeError`.

    ## Example
    ```python
    import tensorflow as tf

    a = tf.Variable(2.0, name="a")
    b = tf.Variable(3.0, name="b")
    with tf.GradientTape() as tape:
        loss = tf.square(a * b)
    gradients = [tape.gradient(loss, a)]
    try:
        gradients.append(tape.gradient(loss, b))
    except RuntimeError:
        gradients.append(None)
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    a = tf.Variable(2.0, name="a")
    b = tf.Variable(3.0, name="b")
    with tf.GradientTape() as tape:
        loss = tf.square(a * b)
    gradients = tape.gradient(loss, [a, b])
    ```

    ## Known limits
    None known.
    """
    for request in recording.requests:
        if request.error is None or request.error.kind is not FailureKind.TAPE_SPENT:
            continue
        tape = recording.tapes.get(request.tape)
        related = []
        if tape is not None and tape.spent is not None and tape.spent != request.where:
            related.append(Label(tape.spent, "the first call uses the tape up"))
        if tape is not None and tape.entered is not None:
            related.append(Label(tape.entered, "not persistent"))
        yield Finding(
            message="a second gradient is asked of a tape that is not persistent",
            primary=None if request.where is None else Label(request.where, "the tape is used up already"),
            variables=names_of(recording, request, request.sources),
            related=tuple(related),
            help=f"ask for all gradients in one call, or make the tape with `{Word.TAPE}(persistent=True)`",
            steps=steps_of(recording, [request]),
            fixes=partial(persistent, None if tape is None else tape.entered),
        )
