"""WG501 accumulation-no-averaging."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Label, Severity, Steps
from whygrad.fixes.updates import averaged
from whygrad.graph import Pairing, Recording, Update
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, variable_name


@rule("WG501", "accumulation-no-averaging", severity=Severity.WARNING, since="0.1.0")
def accumulation_no_averaging(recording: Recording) -> Iterator[Finding]:
    """Detects gradients of several micro-batches that are added up and applied without being averaged.

    ## Why it matters
    Each micro-batch's loss is a mean over its own examples. The sum of K such gradients is K times the gradient of
    the big batch: the step is K times too long, and clipping and weight decay act on the wrong size.

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
            loss = tf.reduce_mean(tf.square(w - batch))
        gradients = tape.gradient(loss, [w])
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
            loss = tf.reduce_mean(tf.square(w - batch))
        gradients = tape.gradient(loss, [w])
        total = total + gradients[0] / len(batches)
    optimizer.apply_gradients([(total, w)])
    ```

    ## Known limits
    Only constant factors are followed; where the factor is computed from the data, nothing is said. In compiled code
    the number of micro-batches is that of the additions divided by that of the updates.
    """
    found: dict[tuple[object, int], list[tuple[Update, list[Pairing]]]] = {}
    for update in recording.updates:
        summed = [pair for pair in update.pairs if _is_plain_sum(pair)]
        if summed:
            found.setdefault((update.where, summed[0].requests), []).append((update, summed))
    for alike in found.values():
        times = sum(update.times for update, _ in alike)
        yield _finding(recording, *max(alike, key=lambda each: len(each[1])), times)


def _is_plain_sum(pair: Pairing) -> bool:
    own = pair.gradient_of == frozenset({pair.variable})
    unscaled = pair.scale is not None and abs(pair.scale - 1.0) < 1e-6
    return (
        pair.requests > 1
        and own
        and pair.same_place
        and pair.mean
        and unscaled
        and not pair.compiled
        and not pair.stale
    )


def _finding(recording: Recording, update: Update, pairs: list[Pairing], times: int) -> Finding:
    count = pairs[0].requests
    names = tuple(variable_name(recording.variables[pair.variable]) for pair in pairs)
    summed = pairs[0].summed
    return Finding(
        message=f"the gradients of {count} micro-batches are added up but likely should be averaged: the step of "
        f"{listing(names)} is {count} times that of the whole batch",
        primary=None if update.where is None else Label(update.where, f"a sum of {count} mean gradients"),
        variables=names,
        related=() if summed is None else (Label(summed, "added up here"),),
        help=f"divide the sum (or each loss) by the number of micro-batches, here {count}",
        steps=Steps(times, times),
        certain=False,
        fixes=partial(averaged, update.where, count),
    )
