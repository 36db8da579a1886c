"""WG203 variable-recreated."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Label, Severity
from whygrad.fixes.making import made_here
from whygrad.fixes.owned import made_in_init
from whygrad.graph import Failure, FailureKind, OpKind, Recording, Variable, VariableId
from whygrad.graph.questions.clash import are_recreated, gradients_in, mixed_gradients
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, variable_name
from whygrad.source import SourceSpan


@rule("WG203", "variable-recreated", severity=Severity.ERROR, since="0.1.0")
def variable_recreated(recording: Recording) -> Iterator[Finding]:
    """Detects variables (or layers) that are recreated in every step, so that nothing is ever learned.

    ## Why it matters
    A variable made inside the loop or inside `call` starts from its initial value each time. What the optimizer did
    to the last one is lost, or the optimizer refuses the new one.

    ## Example
    ```python
    import keras
    import tensorflow as tf

    w = tf.Variable([[1.0], [2.0]], name="w")
    x = tf.ones((4, 2))
    for step in range(3):
        with tf.GradientTape() as tape:
            hidden = keras.layers.Dense(2, activation="tanh")(x)
            loss = tf.reduce_mean(tf.square(hidden @ w - 1.0))
        gradients = tape.gradient(loss, [w])
        w.assign_sub(0.1 * gradients[0])
    ```

    ## Use instead
    ```python
    import keras
    import tensorflow as tf

    w = tf.Variable([[1.0], [2.0]], name="w")
    x = tf.ones((4, 2))
    layer = keras.layers.Dense(2, activation="tanh")
    layer.build((4, 2))
    variables = [w, *layer.trainable_variables]
    for step in range(3):
        with tf.GradientTape() as tape:
            hidden = layer(x)
            loss = tf.reduce_mean(tf.square(hidden @ w - 1.0))
        gradients = tape.gradient(loss, variables)
        for variable, gradient in zip(variables, gradients):
            variable.assign_sub(0.1 * gradient)
    ```

    ## Known limits
    Making a variable to take one gradient and throw it away (a helper that computes a derivative) is not reported, nor
    is one that is updated more than once before the next is made (a model for each fold).
    """
    for created, variables in _recreated(recording):
        steps = len({variable.made_in_step for variable in variables})
        yield Finding(
            message=f"this line created {len(variables)} variables in {steps} steps: nothing that one learned is kept",
            primary=Label(created, f"recreated in {steps} steps"),
            variables=tuple(dict.fromkeys(variable_name(variable) for variable in variables)),
            help="make the variable (or layer) once, before the loop or in `__init__`/`build`, and use it in every step",
            fixes=partial(made_here, created),
        )

    failure = recording.failure
    if failure is not None and (met := mixed_gradients(failure)) is not None:
        yield from _met_again(recording, failure, *map(gradients_in, met))
    if failure is not None and failure.kind is FailureKind.STATE_ADDED_LATE:
        yield Finding(
            message="a layer makes variables or layers each time that it is called: they would never be trained",
            primary=None if failure.where is None else Label(failure.where, "makes something new in every call"),
            help="make it once, in `__init__` or `build`, and use it in `call`",
            fixes=partial(made_in_init, failure.where),
        )


def recreated_variables(recording: Recording) -> set[VariableId]:
    """All variables that were recreated in every step."""
    return {variable.id for _, variables in _recreated(recording) for variable in variables}


def _recreated(recording: Recording) -> Iterator[tuple[SourceSpan, list[Variable]]]:
    for created, variables in _by_place(recording).items():
        if len({variable.made_in_step for variable in variables}) > 1 and (
            _share_an_update(recording, variables) or _are_never_asked_for(recording, variables)
        ):
            yield created, variables


def _met_again(
    recording: Recording, failure: Failure, before: frozenset[VariableId], now: frozenset[VariableId]
) -> Iterator[Finding]:
    """Gradients of a variable and of the one that was made in its place were to be added up."""
    made = [recording.variables[number].created for number in sorted(now)]
    if failure.where is None or made[0] is None or not are_recreated(recording, before, now):
        return
    names = tuple(dict.fromkeys(variable_name(recording.variables[number]) for number in sorted(before | now)))
    yield Finding(
        message=f"{listing(names)} is recreated while its gradients are added up: nothing that one learned is kept",
        primary=Label(made[0], "recreated, with another shape"),
        variables=names,
        related=(Label(failure.where, "gradients of the old and the new one meet here"),),
        help="make the variable (or layer) once, before the loop or in `__init__`/`build`, and use it in every step",
    )


def _by_place(recording: Recording) -> dict[SourceSpan, list[Variable]]:
    places: dict[SourceSpan, list[Variable]] = defaultdict(list)
    for variable in recording.variables.values():
        if variable.created is not None and variable.trainable and variable.is_floating:
            places[variable.created].append(variable)
    return {place: found for place, found in places.items() if len(found) > 1}


def _share_an_update(recording: Recording, variables: list[Variable]) -> bool:
    """One optimizer, one sum of gradients, or one loop met those of several steps, though no step used two."""
    step_of = {variable.id: variable.made_in_step for variable in variables}
    for request in recording.requests:
        if len({step_of[s.variable] for s in request.sources if s.variable in step_of}) > 1:
            return False
    by_optimizer: dict[int, set[int]] = defaultdict(set)
    for update in recording.updates:
        for pair in update.pairs:
            if pair.variable in step_of and update.optimizer_id:
                by_optimizer[update.optimizer_id].add(step_of[pair.variable])
            if len({step_of[number] for number in pair.gradient_of or () if number in step_of}) > 1:
                return True
    met_several = any(len(met) > 1 for met in by_optimizer.values()) and not _live_on(recording, step_of)
    return met_several or _live_one_step(recording, step_of)


def _live_on(recording: Recording, step_of: dict[VariableId, int]) -> bool:
    """Each was updated more than once before the next was made; of the newest nobody knows."""
    updated: Counter[VariableId] = Counter()
    for update in recording.updates:
        times = update.times
        updated.update({pair.variable: times for pair in update.pairs if pair.variable in step_of})
    newest = max(step_of.values())
    return all(times > 1 for number, times in updated.items() if step_of[number] != newest)


def _live_one_step(recording: Recording, step_of: dict[VariableId, int]) -> bool:
    """Those of three steps or more were updated, each after its first and only gradient."""
    asked: Counter[VariableId] = Counter()
    for request in recording.requests:
        times = request.seen + request.compiled  # what is compiled may run any number of times
        asked.update({s.variable: times for s in request.sources if s.variable in step_of})
    updated = {pair.variable for update in recording.updates for pair in update.pairs if pair.variable in step_of}
    steps = {step_of[number] for number in updated}
    return len(steps) > 2 and all(asked[number] == 1 for number in updated)


def _are_never_asked_for(recording: Recording, variables: list[Variable]) -> bool:
    """Made under a tape, used in the loss, and no gradient is ever asked for any of them."""
    ids = {variable.id for variable in variables}
    if any(source.variable in ids for request in recording.requests for source in request.sources):
        return False
    if any(pair.variable in ids for update in recording.updates for pair in update.pairs):
        return False
    return any(
        op.variable in ids and request.tape in op.tapes
        for request in recording.requests
        for op in request.graph.ops
        if op.kind is OpKind.READ
    )
