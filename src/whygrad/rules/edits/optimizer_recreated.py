"""WG604 optimizer-recreated."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity, Steps
from whygrad.graph import Recording, Update
from whygrad.graph.event import Recompiled
from whygrad.graph.ledger import WriterKind
from whygrad.rules.rule import Finding, rule


@rule("WG604", "optimizer-recreated", severity=Severity.ERROR, since="0.1.0")
def optimizer_recreated(recording: Recording) -> Iterator[Finding]:
    """Detects optimizers that are made anew in every step, so that their moments never live.

    ## Why it matters
    Adam, RMSprop and momentum work by remembering. An optimizer made inside the loop forgets everything after one
    step, and its schedule never advances.

    ## Example
    ```python
    import keras
    import tensorflow as tf

    w = tf.Variable(2.0, name="w")
    for step in range(3):
        optimizer = keras.optimizers.Adam(0.1)
        with tf.GradientTape() as tape:
            loss = tf.square(w)
        gradients = tape.gradient(loss, [w])
        optimizer.apply_gradients(zip(gradients, [w]))
    ```

    ## Use instead
    ```python
    import keras
    import tensorflow as tf

    w = tf.Variable(2.0, name="w")
    optimizer = keras.optimizers.Adam(0.1)
    for step in range(3):
        with tf.GradientTape() as tape:
            loss = tf.square(w)
        gradients = tape.gradient(loss, [w])
        optimizer.apply_gradients(zip(gradients, [w]))
    ```

    ## Known limits
    Plain SGD keeps nothing between steps and is not reported. A model that is compiled anew for a longer phase of
    training, for other layers, or after its weights were set back, is taken as meant.
    """
    compiled_anew = _compiled_anew(recording)
    yield from map(_given_up, compiled_anew)
    told = {variable for event in compiled_anew for variable in event.variables}
    by_place: dict[object, list[Update]] = {}
    for update in recording.updates:
        if update.optimizer_id and update.stateful and update.where is not None:
            variables = frozenset(pair.variable for pair in update.pairs)
            if told and variables <= told:
                continue
            by_place.setdefault((update.where, variables), []).append(update)
    for group in by_place.values():
        optimizers = {update.optimizer_id for update in group}
        compiled = any(update.runs is not None for update in group)
        if len(optimizers) < (3 if compiled else 2) or any(_times(update) > 1 for update in group):
            continue
        first = group[0]
        where = first.made or first.where
        yield Finding(
            message=f"{len(optimizers)} optimizers were made to train the same variables, one for each step",
            primary=None if where is None else Label(where, "a new optimizer every step: its moments are lost"),
            related=() if first.where in (None, where) else (Label(first.where, "used once here"),),
            help="make the optimizer once, before the loop",
            steps=Steps(len(optimizers), len(optimizers)),
        )


def _times(update: Update) -> int:
    return update.seen if update.runs is None else update.runs


def _compiled_anew(recording: Recording) -> list[Recompiled]:
    """Models that got a new optimizer for every round; not those whose weights were set back for a fresh start."""
    set_back = {
        write.variable
        for write in recording.ledger
        if write.kind in _SETTING and any(stretch.last > 0 for stretch in write.steps)
    }
    events = recording.events_of(Recompiled)
    return [event for event in events if event.replaced > 1 and not set_back & set(event.variables)]


def _given_up(event: Recompiled) -> Finding:
    where, lost = event.where, "a new optimizer each time: its moments are lost"
    return Finding(
        message=f"`{event.model}` is compiled anew for every round of training: {event.replaced} optimizers were thrown "
        "away with their moments",
        primary=None if where is None else Label(where, lost),
        help="compile once, before the loop; change the rate with `optimizer.learning_rate`, a schedule or a callback",
        steps=Steps(event.replaced, event.replaced),
    )


_SETTING = (WriterKind.RESTORE, WriterKind.USER, WriterKind.EDIT, WriterKind.CALLBACK)
