"""WG205 optimizer-variable-mismatch."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from whygrad.diagnostics import Label, Severity, Word
from whygrad.fixes.making import built_for_all
from whygrad.fixes.updates import repeated_before
from whygrad.graph import Recording, Update
from whygrad.graph.objects import Trained
from whygrad.rules.baked_state import baked_states
from whygrad.rules.keras.frozen_by_flag import compiled_at
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, variable_name
from whygrad.rules.wrong_variables.variable_recreated import recreated_variables


@rule("WG205", "optimizer-variable-mismatch", severity=Severity.ERROR, since="0.1.0")
def optimizer_variable_mismatch(recording: Recording) -> Iterator[Finding]:
    """Detects optimizers that are given variables they were not built for.

    ## Why it matters
    A Keras 3 optimizer makes its slots for the first list of variables it sees. A second network, a layer that was
    unfrozen later, or a new model meets `Unknown variable` or is left out.

    ## Example
    ```python
    import keras
    import tensorflow as tf

    a = keras.Variable(1.0, name="a")
    b = keras.Variable(2.0, name="b")
    optimizer = keras.optimizers.Adam(0.1)
    gradients = []
    for variable in (a, b):
        with tf.GradientTape() as tape:
            loss = tf.square(variable.value)
        gradient = tape.gradient(loss, variable.value)
        try:
            optimizer.apply([gradient], [variable])
            gradients.append(gradient)
        except ValueError:
            gradients.append(None)
    ```

    ## Use instead
    ```python
    import keras
    import tensorflow as tf

    a = keras.Variable(1.0, name="a")
    b = keras.Variable(2.0, name="b")
    optimizer = keras.optimizers.Adam(0.1)
    optimizer.build([a, b])
    gradients = []
    for variable in (a, b):
        with tf.GradientTape() as tape:
            loss = tf.square(variable.value)
        gradient = tape.gradient(loss, variable.value)
        optimizer.apply([gradient], [variable])
        gradients.append(gradient)
    ```

    ## Known limits
    tf_keras optimizers accept new variables where they can; there only the failure itself is reported.
    """
    yield from _traced_for_another(recording)
    yield from _grown_since(recording)
    recreated = recreated_variables(recording)  # whose rule has the cause
    for update in recording.updates:
        if not update.unknown or recreated.issuperset(update.unknown):
            continue
        names = tuple(variable_name(recording.variables[number]) for number in update.unknown)
        first = _first_use(recording, update)
        yield Finding(
            message=f"the optimizer `{update.optimizer}` was not built for {listing(names)}",
            primary=None if update.where is None else Label(update.where, "passed to the optimizer here"),
            variables=names,
            related=first,
            help=_AGAIN if _are_made_again(recording, update) else _APART,
            fixes=partial(built_for_all, [label.span for label in first], update.where),
        )


_AGAIN: Final = "make a new optimizer together with each new model"
_APART: Final = (
    "build it once with all variables (`optimizer.build(a.trainable_variables + b.trainable_variables)`), or use one "
    "optimizer for each part"
)


def _are_made_again(recording: Recording, update: Update) -> bool:
    """Whether the lines that made these variables made others before, that the optimizer was built for."""
    same = [each for each in recording.updates if each.optimizer_id == update.optimizer_id]
    known = {pair.variable for each in same for pair in each.pairs} - set(update.unknown)
    places = {recording.variables[number].created for number in update.unknown}
    return None not in places and places <= {recording.variables[number].created for number in known}


def _traced_for_another(recording: Recording) -> Iterator[Finding]:
    for state in baked_states(recording):
        if state.replaced:
            yield Finding(
                message=f"`{state.name}` was replaced after the function had been traced: it goes on with the old one",
                primary=None
                if state.read is None
                else Label(state.read, "always stands for the object of the first call"),
                help=f"create the `{Word.COMPILED_FUNCTION}` again together with the object, or pass the object to it as an argument",
            )


def _grown_since(recording: Recording) -> Iterator[Finding]:
    """`fit`, another layer, `fit` again without `compile`: the compiled step has the old network."""
    moved = {pair.variable for update in recording.updates for pair in update.pairs if not pair.missing}
    for event in recording.events_of(Trained):
        fresh = set(event.trainable) - set(event.known_when_made) - moved if event.runs_compiled else set()
        added = [number for number in event.trainable if number in fresh and number in recording.variables]
        if added:
            names = tuple(variable_name(recording.variables[number]) for number in added)
            yield Finding(
                message=f"`{event.model}` was changed after its training step had been compiled: "
                f"{listing(names)} not trained",
                primary=None if event.where is None else Label(event.where, "still runs the step of the old network"),
                variables=names,
                help="call `compile` again after layers were added or removed",
                fixes=partial(repeated_before, compiled_at(recording, event.model), event.where),
            )


def _first_use(recording: Recording, update: Update) -> tuple[Label, ...]:
    for earlier in recording.updates:
        if earlier.optimizer_id == update.optimizer_id and not earlier.unknown and earlier.where != update.where:
            return () if earlier.where is None else (Label(earlier.where, "built for these variables"),)
    return ()
