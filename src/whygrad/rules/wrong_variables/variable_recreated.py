"""WG203 variable-recreated."""

from __future__ import annotations

from collections.abc import Iterator

from collections import defaultdict

from whygrad.diagnostics import Label, Severity
from whygrad.graph import OpKind, Recording, Variable, VariableId
from whygrad.rules.missing import variable_name
from whygrad.rules.rule import Finding, rule
from whygrad.source import SourceSpan


@rule("WG203", "variable-recreated", severity=Severity.ERROR, since="0.1.0")
def variable_recreated(recording: Recording) -> Iterator[Finding]:
    """Detects variables (or layers) that are made anew in every step, so that nothing is ever learned.

    ## Why it matters
    A variable made inside the loop or inside `call` starts from its initial value each time. What the optimizer did
    to the last one is lost, or the optimizer refuses the new one.

    ## Example
    ```python
    import tensorflow as tf

    total = None
    for step in range(3):
        w = tf.Variable(1.0, name="w")
        with tf.GradientTape() as tape:
            loss = tf.square(w - float(step))
        gradient = tape.gradient(loss, w)
        total = gradient if total is None else total + gradient
    w.assign_sub(0.1 * total)
    gradients = [gradient]
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    total = None
    w = tf.Variable(1.0, name="w")
    for step in range(3):
        with tf.GradientTape() as tape:
            loss = tf.square(w - float(step))
        gradient = tape.gradient(loss, w)
        total = gradient if total is None else total + gradient
    w.assign_sub(0.1 * total)
    gradients = [gradient]
    ```

    ## Known limits
    Making a variable to take one gradient and throw it away (a helper that computes a derivative) is not reported.
    """
    for created, variables in _by_place(recording).items():
        if len({variable.made_in_step for variable in variables}) < 2:
            continue
        if _share_an_update(recording, variables) or _are_never_asked_for(recording, variables):
            names = tuple(dict.fromkeys(variable_name(variable) for variable in variables))
            yield Finding(
                message=f"{len(variables)} variables were made by this line, one for each step: each starts anew",
                primary=Label(created, f"made {len(variables)} times"),
                variables=names,
                help="make the variable (or layer) once, before the loop or in `__init__`/`build`, and use it in every step",
            )


def _by_place(recording: Recording) -> dict[SourceSpan, list[Variable]]:
    places: dict[SourceSpan, list[Variable]] = defaultdict(list)
    for variable in recording.variables.values():
        if variable.created is not None and variable.trainable and variable.is_floating:
            places[variable.created].append(variable)
    return {place: found for place, found in places.items() if len(found) > 1}


def _share_an_update(recording: Recording, variables: list[Variable]) -> bool:
    """One optimizer, or one sum of gradients, met several of them, though no step used two."""
    ids = {variable.id for variable in variables}
    for request in recording.requests:
        if len(ids & {source.variable for source in request.sources}) > 1:
            return False
    by_optimizer: dict[int, set[VariableId]] = defaultdict(set)
    for update in recording.updates:
        for pair in update.pairs:
            if pair.variable in ids:
                by_optimizer[update.optimizer_id].add(pair.variable)
            if pair.gradient_of is not None and len(pair.gradient_of & ids) > 1:
                return True
    return any(len(met) > 1 for met in by_optimizer.values())


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
