"""WG207 non-trainable-in-list."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Label, Severity
from whygrad.fixes.updates import trainable_only
from whygrad.graph import Outcome, Recording
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, steps_of, variable_name


@rule("WG207", "non-trainable-in-list", severity=Severity.ERROR, since="0.1.0")
def non_trainable_in_list(recording: Recording) -> Iterator[Finding]:
    """Detects `variables` used where `trainable_variables` was meant.

    ## Why it matters
    `model.variables` also holds statistics, counters and frozen weights. Their gradients are `None`, and every list
    that is zipped with them by position shifts.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable(2.0, name="w")
    steps = tf.Variable(1.0, name="steps", trainable=False)
    with tf.GradientTape() as tape:
        loss = tf.square(w * steps)
    gradients = tape.gradient(loss, [w, steps])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable(2.0, name="w")
    steps = tf.Variable(1.0, name="steps", trainable=False)
    with tf.GradientTape() as tape:
        loss = tf.square(w * steps)
    gradients = tape.gradient(loss, [w])
    ```

    ## Known limits
    A list of variables that are all not trainable is reported as `unwatched-source`.
    """
    for request in recording.requests:
        held = [
            (s, recording.variables[s.variable])
            for s in request.sources
            if s.variable is not None and s.variable in recording.variables
        ]
        idle = [v for s, v in held if not v.trainable and s.outcome is Outcome.MISSING and s.watched is None]
        if not idle or not any(variable.trainable for _, variable in held) or request.zeros_accepted:
            continue
        names = tuple(variable_name(variable) for variable in idle)
        yield Finding(
            message=f"{listing(names)} cannot get a gradient: not trainable, but in the list of variables",
            primary=None
            if request.where is None
            else Label(request.where, f"{len(idle)} of {len(held)} are not trainable"),
            variables=names,
            help="ask for `trainable_variables`, and zip with the same list",
            steps=steps_of(recording, [request]),
            fixes=partial(trainable_only, request.where),
        )
