"""WG415 nan-weights."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Recording
from whygrad.graph.nonfinite import Nonfinite, Stage
from whygrad.rules.nonfinite.birth import seen, steps_of, symptom
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, names


@rule("WG415", "nan-weights", severity=Severity.ERROR, since="0.1.0")
def nan_weights(recording: Recording) -> Iterator[Finding]:
    """Detects a variable that was NaN or Inf before any update touched it.

    ## Why it matters
    A checkpoint that was saved after training had gone bad, an initial value that divides by zero, a write by hand:
    the very first loss is NaN, and looking for the cause in the step is in vain.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable([1.0, float("nan")], name="w")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(w))
    gradients = tape.gradient(loss, [w])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable([1.0, 0.5], name="w")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(w))
    gradients = tape.gradient(loss, [w])
    ```

    ## Known limits
    Who wrote the variable is known only for writes by code that was watched.
    """
    for entered in seen(recording, Stage.ENTERED):
        facts = entered.value
        if not entered.variables or facts is None:
            continue
        name = names(recording, entered.variables)
        where = entered.written_at or entered.where or entered.used_at
        yield Finding(
            message=f"{symptom(recording, entered.when)}: {listing(name)} {_became(entered)}",
            primary=None if where is None else Label(where, _label(entered)),
            variables=name,
            related=() if entered.used_at in (None, where) else (Label(entered.used_at, "used here"),),
            notes=(f"{facts.nans} NaN and {facts.infs} Inf of {facts.size} elements",),
            help=_help(entered),
            steps=steps_of(entered.when),
        )


def _became(entered: Nonfinite) -> str:
    return "is not finite before any update" if entered.written_at is None else "was given a value that is not finite"


def _help(entered: Nonfinite) -> str:
    if entered.written_at is None:
        return "load another checkpoint, or fix the initial value"
    return "look at what is written here: a checkpoint that is bad already, a quotient, root or logarithm of zero"


def _label(entered: Nonfinite) -> str:
    if entered.written_at is not None:
        return "written here"
    return "made here" if entered.where is not None else "read here"
