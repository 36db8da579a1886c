"""WG303 exploding-normalise."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Label, Severity, Word
from whygrad.fixes.networks import larger_epsilon
from whygrad.graph import Recording
from whygrad.graph.nonfinite import Scaled
from whygrad.graph.questions.feeding import direct
from whygrad.rules.nonfinite.birth import steps_of
from whygrad.rules.odd_gradient.over_steps import always, measured, norm_divided_by, normalising_op
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import asked_at, text_of


@rule("WG303", "exploding-normalise", severity=Severity.WARNING, since="0.1.0")
def exploding_normalise(recording: Recording) -> Iterator[Finding]:
    """Detects a normalisation of a vector near zero, which multiplies the gradient by the inverse of its norm.

    ## Why it matters
    `tf.math.l2_normalize` keeps the value finite with an epsilon of 1e-12, which is a norm of 1e-6: a zero row gets
    a gradient a million times too large. It is finite, so no check for NaN sees it; the next update throws the row
    far away.

    ## Example
    ```python
    import tensorflow as tf

    codes = tf.Variable([[0.0, 0.0], [1.0, 1.0]], name="codes")
    goal = tf.constant([[1.0, 0.0], [1.0, 0.0]])
    with tf.GradientTape() as tape:
        unit = tf.math.l2_normalize(codes, axis=-1)
        loss = -tf.reduce_mean(tf.reduce_sum(unit * goal, axis=-1))
    gradients = tape.gradient(loss, [codes])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    codes = tf.Variable([[0.0, 0.0], [1.0, 1.0]], name="codes")
    goal = tf.constant([[1.0, 0.0], [1.0, 0.0]])
    with tf.GradientTape() as tape:
        unit = tf.math.l2_normalize(codes, axis=-1, epsilon=1e-4)
        loss = -tf.reduce_mean(tf.reduce_sum(unit * goal, axis=-1))
    gradients = tape.gradient(loss, [codes])
    ```

    ## Known limits
    Looked for once at each place that asks for gradients, where a gradient has a norm above 1e4. Inside a compiled
    step, from 1e7 on, the first division by a root is likely, but not certainly, the one.
    """
    for found in recording.events_of(Scaled):
        position = norm_divided_by(found)
        if position is None:
            continue
        rows = (
            f"; largest in row{'s' * (len(found.rows) > 1)} {', '.join(str(row + 1) for row in found.rows)}, counted from 1"
            if found.rows
            else ""
        )
        yield Finding(
            message=f"the gradient grows {found.factor:.3g} times in {text_of(found.where)}, "
            "which normalises a vector near zero",
            primary=None
            if found.where is None
            else Label(found.where, f"divides by a norm of {_smallest(found, position):.3g}"),
            variables=asked_at(recording, found.when.request),
            notes=(f"a gradient of up to {found.largest:.3g} comes out{rows}",),
            help=f"raise epsilon (`{Word.NORMALIZE}(x, epsilon=1e-4)`), or leave zero vectors out",
            steps=steps_of(found.when),
            fixes=partial(larger_epsilon, found.where),
        )
    for request, group in measured(recording, least=2):
        op = normalising_op(request, group)
        if op is not None:
            worst = max(group, key=lambda each: each.peak)
            yield Finding(
                message=f"the gradient of `{worst.name}` has a norm of {worst.peak:.2g}: {text_of(op.where)} "
                "likely normalises a vector near zero",
                primary=None if op.where is None else Label(op.where, "likely divides by a norm near zero"),
                variables=(worst.name,),
                help=f"raise epsilon (`{Word.NORMALIZE}(x, epsilon=1e-4)`), or leave zero vectors out",
                steps=always(request),
                certain=False,
                fixes=partial(larger_epsilon, op.where),
            )


def _smallest(found: Scaled, norm: int) -> float:
    """Of the norms that were divided by: the root of what is under it, before a floor was put below it."""
    under = next((found.fed_by[each].low for each in direct(found.fed_by, norm)), None)
    return math.sqrt(max(under or 0.0, 0.0))
