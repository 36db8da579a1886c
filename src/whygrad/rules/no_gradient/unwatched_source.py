"""WG108 unwatched-source."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Fix, Label, Severity, Word
from whygrad.fixes.tapes import watched
from whygrad.fixes.variables import thawed
from whygrad.graph import Recording
from whygrad.rules.no_gradient.missing import Unwatched, missing_of
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import UNNAMED, listing, names_of, steps_of


@rule("WG108", "unwatched-source", severity=Severity.ERROR, since="0.1.0")
def unwatched_source(recording: Recording) -> Iterator[Finding]:
    """Detects gradients asked of a tensor, or of a variable that is not trainable, that the tape was not watching in time.

    ## Why it matters
    A tape watches trainable variables by itself. A plain tensor must be watched with `tape.watch(x)` before the
    first op that uses it, and so must a variable made with `trainable=False`; otherwise the gradient is `None`.

    ## Example
    ```python
    import tensorflow as tf

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(x))
    gradients = [tape.gradient(loss, x)]
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(tf.square(x))
    gradients = [tape.gradient(loss, x)]
    ```

    ## Known limits
    A late `watch` happens to work where the first op that uses the tensor also reads a watched variable.
    """
    for unwatched in missing_of(recording).unwatched:
        request = unwatched.request
        names = names_of(recording, request, (unwatched.source,))
        late = unwatched.first_use is not None
        where = unwatched.first_use if unwatched.first_use is not None else request.where
        yield Finding(
            message=f"no gradient reaches {listing(names)}: the tape {_when(late)}",
            primary=None if where is None else Label(where, "used here, before `watch`" if late else "asked for here"),
            variables=names,
            help=f"call {_call(names[0])} before the first op that uses it",
            steps=steps_of(recording, [request]),
            fixes=partial(_fixes, recording, unwatched, names[0]),
        )


def _fixes(recording: Recording, unwatched: Unwatched, name: str) -> Iterator[Fix]:
    tape = recording.tapes.get(unwatched.request.tape)
    if tape is not None:
        late = tape.watched[0] if unwatched.first_use is not None and len(tape.watched) == 1 else None
        variable = recording.variables.get(unwatched.source.variable) if unwatched.source.variable is not None else None
        yield from thawed(None if variable is None else variable.created)
        yield from watched(tape.entered, name, late)


def _call(name: str) -> str:
    return f"`{Word.WATCH}(...)` on it" if name == UNNAMED else f"`{Word.WATCH}({name})`"


def _when(late: bool) -> str:
    return "began to watch it only after it was used" if late else "was not watching it"
