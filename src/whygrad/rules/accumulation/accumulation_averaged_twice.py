"""WG507 accumulation-averaged-twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from whygrad.diagnostics import Label, Severity, Steps
from whygrad.fixes.updates import undivided
from whygrad.graph import Pairing, Recording, Update
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, variable_name


@rule("WG507", "accumulation-averaged-twice", severity=Severity.WARNING, since="0.1.0")
def accumulation_averaged_twice(recording: Recording) -> Iterator[Finding]:
    """Detects accumulated gradients that are divided by the number of micro-batches twice.

    ## Why it matters
    Dividing each loss by K and the sum of the gradients by K again makes the step K times too short.

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
        gradients = tape.gradient(loss, [w])
        total = total + gradients[0]
    optimizer.apply_gradients([(total / len(batches), w)])
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
            loss = tf.reduce_mean(tf.square(w - batch))
        gradients = tape.gradient(loss, [w])
        total = total + gradients[0]
    optimizer.apply_gradients([(total / len(batches), w)])
    ```

    ## Known limits
    Only constant factors are followed.
    """
    for update in recording.updates:
        short = [pair for pair in update.pairs if _is_twice(pair)]
        if short:
            yield _twice(recording, update, short)
        by_hand = [pair for pair in update.pairs if _is_averaged_already(pair, update.averages)]
        if by_hand:
            yield _beside_the_optimizer(recording, update, by_hand)


def _twice(recording: Recording, update: Update, pairs: list[Pairing]) -> Finding:
    """Shown at the second division, with the first one beside it where both are known."""
    count = pairs[0].requests
    first, second = pairs[0].loss_divided, pairs[0].divided
    places = [place for place in (second, first) if place is not None] if first != second else []
    text = f"{count} micro-batches, each weighted 1/{count * count}"
    where = places[0] if places else update.where
    finding = _finding(
        recording,
        update,
        pairs,
        None if where is None else Label(where, f"the second division: {text}" if len(places) > 1 else text),
        f"divide once: either each loss or the sum by {count}",
    )
    if len(places) < 2:
        return finding
    applied = () if update.where is None else (Label(update.where, "applied here"),)
    return replace(finding, related=(Label(places[1], f"each loss is divided by {count} already"), *applied))


def _beside_the_optimizer(recording: Recording, update: Update, pairs: list[Pairing]) -> Finding:
    """Shown at the division, where it is known."""
    text = f"divided by {update.averages}, and the optimizer takes the mean of {update.averages} such calls"
    divided, applied = pairs[0].divided or pairs[0].loss_divided, update.where
    where = divided or applied
    advice = "leave the division to the optimizer: it averages over `gradient_accumulation_steps` itself"
    finding = _finding(recording, update, pairs, None if where is None else Label(where, text), advice)
    return finding if applied in (None, where) else replace(finding, related=(Label(applied, "applied here"),))


def _finding(recording: Recording, update: Update, pairs: list[Pairing], where: Label | None, advice: str) -> Finding:
    count = max(pairs[0].requests, update.averages)
    names = tuple(variable_name(recording.variables[pair.variable]) for pair in pairs)
    return Finding(
        message=f"the accumulated gradient of {listing(names)} is likely averaged twice: divided by {count} two times",
        primary=where,
        variables=names,
        help=advice,
        steps=Steps(update.times, update.times),
        certain=False,
        fixes=partial(undivided, pairs[0].divided or pairs[0].loss_divided),
    )


def _is_twice(pair: Pairing) -> bool:
    if pair.requests < 2 or pair.scale is None or not pair.same_place or pair.compiled or pair.stale:
        return False
    return pair.mean and abs(pair.scale * pair.requests * pair.requests - 1.0) < 1e-5


def _is_averaged_already(pair: Pairing, by_optimizer: int) -> bool:
    """The user divides by the very number that the optimizer divides by."""
    if by_optimizer < 2 or pair.scale is None or pair.requests > 1 or not pair.mean:
        return False
    return abs(pair.scale * by_optimizer - 1.0) < 1e-5
