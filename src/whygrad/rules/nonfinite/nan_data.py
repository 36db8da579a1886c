"""WG414 nan-data."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity, Word
from whygrad.graph import Recording
from whygrad.graph.nonfinite import Nonfinite, Stage, ValueFacts
from whygrad.rules.nonfinite.birth import described, on_replica, seen, steps_of, symptom, what_became
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import text_of


@rule("WG414", "nan-data", severity=Severity.ERROR, since="0.1.0")
def nan_data(recording: Recording) -> Iterator[Finding]:
    """Detects a NaN or Inf that was in the data already.

    ## Why it matters
    One missing value in one row of one batch makes the loss of that batch NaN, and after the update every weight.
    Nothing in the model is to blame, and no clipping or smaller learning rate helps.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable([[1.0], [2.0]], name="w")
    x = tf.constant([[1.0, 2.0], [float("nan"), 1.0], [0.0, 1.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
    gradients = tape.gradient(loss, [w])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable([[1.0], [2.0]], name="w")
    x = tf.constant([[1.0, 2.0], [float("nan"), 1.0], [0.0, 1.0]])
    x = tf.where(tf.math.is_finite(x), x, tf.zeros_like(x))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
    gradients = tape.gradient(loss, [w])
    ```

    ## Known limits
    What an op made before the tape counts as data; the place is then that op's.
    """
    for entered in seen(recording, Stage.ENTERED):
        facts = entered.value
        if entered.variables or facts is None:
            continue
        what = "NaN" if facts.nans else "Inf"
        yield Finding(
            message=f"{symptom(recording, entered.when)}: {what} is in the data already",
            primary=None
            if entered.where is None
            else Label(entered.where, f"{facts.nans + facts.infs} bad of {facts.size} values come in here"),
            related=_related(entered),
            notes=_notes(entered, facts),
            help=_help(entered),
            steps=steps_of(entered.when),
            severity=Severity.NOTE if entered.when.went_on else None,
        )


def _related(entered: Nonfinite) -> tuple[Label, ...]:
    places = {
        entered.used_at: "and are used here",
        entered.masked_by: "hidden here, in the forward pass only",
        entered.when.request: "seen here",
    }
    return tuple(Label(place, text) for place, text in places.items() if place not in (None, entered.where))


def _help(entered: Nonfinite) -> str:
    if entered.masked_by is not None:
        return (
            f"put numbers in their place before they are used, `safe = {Word.WHERE}({Word.IS_FINITE}(y), y, 0.0)`: "
            f"a `{Word.WHERE}` afterwards hides them from the loss, and 0 * NaN is NaN in the backward pass"
        )
    return (
        "drop or fill such rows before training, for example "
        f"`dataset.filter(lambda x, y: {Word.ALL}({Word.IS_FINITE}(x)))`"
    )


def _notes(entered: Nonfinite, facts: ValueFacts) -> tuple[str, ...]:
    found = [f"{text_of(entered.used_at)} takes {described(facts)}"] if entered.used_at else []
    if entered.rows:
        found.append(
            f"bad: {_counted('row', entered.rows)}"
            + (f", {_counted('feature', entered.columns)}" if entered.columns else "")
            + ", counted from 1"
        )
    found += on_replica(entered)
    if entered.when.step > 1:
        found.append(f"first seen at step {entered.when.step} through this line")
    return (*found, *what_became(entered.when))


def _counted(word: str, numbers: tuple[int, ...]) -> str:
    more = ", ..." if len(numbers) >= 8 else ""
    return f"{word}{'s' * (len(numbers) > 1)} {', '.join(str(number + 1) for number in numbers)}{more}"
