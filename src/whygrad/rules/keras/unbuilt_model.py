"""WG202 unbuilt-model."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from whygrad.diagnostics import Label, Severity
from whygrad.fixes.updates import read_when_used
from whygrad.graph import OpKind, Recording
from whygrad.graph.objects import ListRead
from whygrad.graph.questions.query import index_of
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, variable_name
from whygrad.source.naming import is_kept, is_looped_over

_STEPS: Final = 3  # gradients that are asked for as often are for a training, and not to be looked at


@rule("WG202", "unbuilt-model", severity=Severity.ERROR, since="0.1.0")
def unbuilt_model(recording: Recording) -> Iterator[Finding]:
    """Detects lists of variables that were read before the model was built, and so were short or empty.

    ## Why it matters
    A Keras model without a known input shape has no variables until it is first called. A list read before that
    stays empty: accumulators made from it, or gradients asked for it, miss every variable.

    ## Example
    ```python
    import keras
    import tensorflow as tf

    model = keras.Sequential([keras.layers.Dense(1)])
    parameters = model.trainable_variables
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(tf.ones((4, 2)))))
    gradients = tape.gradient(loss, parameters)
    ```

    ## Use instead
    ```python
    import keras
    import tensorflow as tf

    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    parameters = model.trainable_variables
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(tf.ones((4, 2)))))
    gradients = tape.gradient(loss, parameters)
    ```

    ## Known limits
    Where the list was not seen to be used and nothing failed, it is a note.
    """
    for read in recording.events_of(ListRead):
        if len(read.later) > len(read.held):
            yield from _still_used(recording, read) if read.built else [_too_short(recording, read)]


def _too_short(recording: Recording, read: ListRead) -> Finding:
    then, now = len(read.held), len(read.later)
    late = [recording.variables[n] for n in read.later if n not in read.held and n in recording.variables]
    harmful = (
        read.handed_on
        or is_looped_over(read.where)
        or recording.failure is not None
        or _left_out(recording, read)
        or (is_kept(read.where) and _is_asked_in_vain(recording, read))
    )
    return Finding(
        message=f"`{read.owner}.{read.attribute}` was read before the model was built: "
        f"it had {then} variables then and has {now} now",
        primary=None if read.where is None else Label(read.where, f"{then} of {now} variables"),
        variables=tuple(variable_name(variable) for variable in late),
        help="give the model its input shape (`keras.layers.Input`, `model.build(...)`) or call it once before this line",
        severity=None if harmful else Severity.NOTE,
        fixes=partial(read_when_used, read.where),
    )


def _still_used(recording: Recording, event: ListRead) -> Iterator[Finding]:
    """The old list is asked for gradients of a loss that depends on the new variables too."""
    then, since = set(event.held), [number for number in event.later if number not in event.held]
    for request in recording.requests:
        asked = {source.variable for source in request.sources}
        if not asked or not asked <= then:
            continue
        alive = index_of(request.graph).open_behind(request.targets, request.tape)
        late = {
            op.variable
            for op in request.graph.ops
            if op.kind is OpKind.READ and op.variable in since and any(tensor in alive for tensor in op.outputs)
        }
        missed = [recording.variables[n] for n in since if n in late and recording.variables[n].trainable]
        if missed:
            names = tuple(variable_name(variable) for variable in missed)
            yield Finding(
                message=f"`{event.attribute}` of `{event.owner}` was read before {listing(names)} was made: "
                "no gradient is asked for it",
                primary=None if event.where is None else Label(event.where, f"{len(then)} variables then"),
                variables=names,
                related=() if request.where is None else (Label(request.where, "asked for the old list here"),),
                help=f"read `{event.attribute}` in every step, after the forward pass",
                fixes=partial(read_when_used, event.where),
            )
            return


def _is_asked_in_vain(recording: Recording, event: ListRead) -> bool:
    """Gradients of the variables that the list lacks are asked for in step after step, and none of them ever moves."""
    late = set(event.later) - set(event.held)
    moved = {pair.variable for update in recording.updates for pair in update.pairs}
    moved |= {number for number, variable in recording.variables.items() if variable.writes}
    asked = (request for request in recording.requests if late & {source.variable for source in request.sources})
    return late.isdisjoint(moved) and any(request.times >= _STEPS for request in asked)


def _left_out(recording: Recording, event: ListRead) -> bool:
    """The loss depends on the model's variables, and no gradient is asked for any of them."""
    mine = set(event.later)
    if any(source.variable in mine for request in recording.requests for source in request.sources):
        return False
    return any(
        op.kind is OpKind.READ and op.variable in mine and request.tape in op.tapes
        for request in recording.requests
        for op in request.graph.ops
    )
