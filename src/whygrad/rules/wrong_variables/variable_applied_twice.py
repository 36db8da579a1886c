"""WG210 variable-applied-twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity, Steps, Word
from whygrad.graph import Recording, Update, VariableId
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, variable_name


@rule("WG210", "variable-applied-twice", severity=Severity.ERROR, since="0.1.0")
def variable_applied_twice(recording: Recording) -> Iterator[Finding]:
    """Detects variables that the gradient of one loss moves twice in a step: by one update, or by two optimizers.

    ## Why it matters
    `tape.gradient` already adds up all uses of a variable. Where two networks share a layer and their lists are joined,
    its gradient stands in the joined list twice: the layer moves by twice the step, and moments are updated twice. So do
    variables that are in the groups of two optimizers, which each apply the gradient of the same loss.

    ## Example
    ```python
    import keras
    import tensorflow as tf

    shared = keras.Variable(1.0, name="shared")
    head_a = keras.Variable(2.0, name="head_a")
    head_b = keras.Variable(3.0, name="head_b")
    network_a, network_b = [shared, head_a], [shared, head_b]
    optimizer = keras.optimizers.Adam(0.1)
    variables = network_a + network_b
    with tf.GradientTape() as tape:
        loss = tf.square(shared.value * (head_a.value + head_b.value))
    gradients = tape.gradient(loss, [v.value for v in variables])
    optimizer.apply(gradients, variables)
    ```

    ## Use instead
    ```python
    import keras
    import tensorflow as tf

    shared = keras.Variable(1.0, name="shared")
    head_a = keras.Variable(2.0, name="head_a")
    head_b = keras.Variable(3.0, name="head_b")
    network_a, network_b = [shared, head_a], [shared, head_b]
    optimizer = keras.optimizers.Adam(0.1)
    variables = list({id(v): v for v in network_a + network_b}.values())
    with tf.GradientTape() as tape:
        loss = tf.square(shared.value * (head_a.value + head_b.value))
    gradients = tape.gradient(loss, [v.value for v in variables])
    optimizer.apply(gradients, variables)
    ```

    ## Known limits
    Two updates of one variable in a step by one optimizer, in two calls, are taken as meant; and so are those by two
    optimizers where each has a loss of its own.
    """
    for update in recording.updates:
        twice = _repeated(update)
        if not twice:
            continue
        names = tuple(variable_name(recording.variables[number]) for number in twice)
        yield Finding(
            message=f"{listing(names)} is in the list of one update {max(twice.values())} times, and is updated as often",
            primary=None if update.where is None else Label(update.where, "applied more than once here"),
            variables=names,
            help=f"give each variable once: `{Word.GRADIENT}` adds up its uses already",
            steps=Steps(update.times, update.times),
        )
    yield from _by_two_optimizers(recording)


def _by_two_optimizers(recording: Recording) -> Iterator[Finding]:
    for update in recording.updates:
        again = [pair for pair in update.pairs if pair.moved is not None]
        if not again:
            continue
        names = tuple(variable_name(recording.variables[pair.variable]) for pair in again)
        moved = again[0].moved
        yield Finding(
            message=f"{listing(names)} is likely in the groups of two optimizers by mistake: "
            "both apply the gradient of one loss to it",
            primary=None if update.where is None else Label(update.where, "moves it a second time"),
            variables=names,
            related=() if moved is None else (Label(moved, "moved by the gradient of this loss already"),),
            help="give each variable to one of the optimizers",
            severity=Severity.WARNING,
            certain=False,
            steps=Steps(update.times, update.times),
        )


def _repeated(update: Update) -> dict[VariableId, int]:
    if not update.optimizer_id:  # by hand, one write at a time
        return {}
    counts = Counter(pair.variable for pair in update.pairs if not pair.missing)
    return {number: count for number, count in counts.items() if count > 1}
