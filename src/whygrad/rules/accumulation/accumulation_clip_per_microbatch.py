"""WG505 accumulation-clip-per-microbatch."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Recording
from whygrad.graph.event import GradientChange
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import variable_name
from whygrad.source import SourceSpan


@rule("WG505", "accumulation-clip-per-microbatch", severity=Severity.WARNING, since="0.1.0")
def accumulation_clip_per_microbatch(recording: Recording) -> Iterator[Finding]:
    """Detects gradients that are clipped for each micro-batch before they are added up.

    ## Why it matters
    Clipping is not linear: the sum of clipped gradients is not the clipped sum. One large micro-batch loses its
    weight, and the direction differs from that of the big batch.

    ## Example
    ```python
    import keras
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0], name="w")
    optimizer = keras.optimizers.SGD(0.1)
    batches = [tf.constant([1.0, 3.0]), tf.constant([2.0, 4.0])]
    total = tf.zeros_like(w)
    for batch in batches:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(w - batch)) / len(batches)
        gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, [w]), 0.1)
        total = total + gradients[0]
    optimizer.apply_gradients([(total, w)])
    ```

    ## Use instead
    ```python
    import keras
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0], name="w")
    optimizer = keras.optimizers.SGD(0.1)
    batches = [tf.constant([1.0, 3.0]), tf.constant([2.0, 4.0])]
    total = tf.zeros_like(w)
    for batch in batches:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(w - batch)) / len(batches)
        gradients = tape.gradient(loss, [w])
        total = total + gradients[0]
    gradients, _ = tf.clip_by_global_norm([total], 0.1)
    optimizer.apply_gradients(zip(gradients, [w]))
    ```

    ## Known limits
    Where noise is added to the sum (differentially private training) the clipping is taken as meant.
    """
    sums: dict[tuple[SourceSpan | None, SourceSpan | None], list[GradientChange]] = {}
    for event in recording.events_of(GradientChange):
        if event.clipped is not None and not event.unused:
            sums.setdefault((event.clipped, event.summed), []).append(event)
    for (where, summed), events in sums.items():
        if any(event.noised for event in events):
            continue
        yield Finding(
            message="gradients are clipped for each micro-batch before they are added up: likely meant for the sum",
            primary=None if where is None else Label(where, "clips one micro-batch"),
            variables=_asked_at(recording, {event.asked for event in events}),
            related=() if summed in (None, where) else (Label(summed, "added up here, after clipping"),),
            help="add up the unclipped gradients and clip once, right before `apply_gradients`",
            certain=False,
        )


def _asked_at(recording: Recording, places: set[SourceSpan | None]) -> tuple[str, ...]:
    """The variables whose gradients were asked for there."""
    sources = (s for request in recording.requests if request.where in places - {None} for s in request.sources)
    return tuple(
        dict.fromkeys(variable_name(recording.variables[s.variable]) for s in sources if s.variable is not None)
    )
