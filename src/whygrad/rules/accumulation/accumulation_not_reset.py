"""WG502 accumulation-not-reset."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Label, Severity, Steps
from whygrad.fixes.updates import set_back
from whygrad.graph import Pairing, Recording
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, variable_name
from whygrad.source.naming import second_name


@rule("WG502", "accumulation-not-reset", severity=Severity.ERROR, since="0.1.0")
def accumulation_not_reset(recording: Recording) -> Iterator[Finding]:
    """Detects accumulators that still hold gradients of an earlier update.

    ## Why it matters
    After `apply_gradients` the accumulators must start from zero. If they do not, every old gradient is applied
    again in every later step.

    ## Example
    ```python
    import keras
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0], name="w")
    optimizer = keras.optimizers.SGD(0.1)
    batches = [tf.constant([1.0, 3.0]), tf.constant([2.0, 4.0])]
    total = tf.Variable(tf.zeros_like(w), trainable=False)
    for step in range(2):
        for batch in batches:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(w - batch)) / len(batches)
            gradients = tape.gradient(loss, [w])
            total.assign_add(gradients[0])
        optimizer.apply_gradients([(total, w)])
    ```

    ## Use instead
    ```python
    import keras
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0], name="w")
    optimizer = keras.optimizers.SGD(0.1)
    batches = [tf.constant([1.0, 3.0]), tf.constant([2.0, 4.0])]
    total = tf.Variable(tf.zeros_like(w), trainable=False)
    for step in range(2):
        total.assign(tf.zeros_like(w))
        for batch in batches:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(w - batch)) / len(batches)
            gradients = tape.gradient(loss, [w])
            total.assign_add(gradients[0])
        optimizer.apply_gradients([(total, w)])
    ```

    ## Known limits
    A running average that weighs old gradients less is taken as meant.
    """
    for update in recording.updates:
        kept = [pair for pair in update.pairs if pair.stale and (pair.scale is not None or not pair.aged)]
        if not kept:
            continue
        names = tuple(variable_name(recording.variables[pair.variable]) for pair in kept)
        summed, applied = kept[0].summed, kept[0].applied
        again = None if update.where is None else Label(update.where, "applies old gradients again")
        left = None if applied in (None, update.where) else Label(applied, "applied here, and not set back")
        renamed = None if left or summed is None else second_name(summed)
        if renamed is not None:
            left = Label(renamed, "the same list under another name: nothing is set back")
        others = _set_back(recording, kept)
        tail = "" if left or others else ", never set back"
        added = None if summed is None else Label(summed, f"added up here{tail}")
        yield Finding(
            message=f"the accumulated gradient of {listing(names)} still holds what an earlier update applied",
            primary=left or again,
            variables=names,
            related=tuple(label for label in (again if left else None, added) if label is not None),
            notes=others,
            help="set the accumulators to zero after each update",
            steps=Steps(update.times, update.times),
            fixes=partial(set_back, applied or update.where, summed),
        )


def _set_back(recording: Recording, kept: list[Pairing]) -> tuple[str, ...]:
    """Of which variables what is added up in the same place does not stay."""
    ours, summed = {pair.variable for pair in kept}, kept[0].summed
    beside = [pair for update in recording.updates for pair in update.pairs if pair.requests > 1]
    others = {pair.variable for pair in beside if not pair.stale and pair.summed == summed} - ours
    if summed is None or not others:
        return ()
    names = listing(tuple(variable_name(recording.variables[variable]) for variable in sorted(others)))
    return (f"what is added up in the same place for {names} is set back: see that this is done for all",)
