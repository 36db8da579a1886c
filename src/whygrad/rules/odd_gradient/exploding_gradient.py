"""WG308 exploding-gradient."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Recording
from whygrad.graph.nonfinite import Scaled, Stage
from whygrad.graph.questions.misfit import misfits
from whygrad.graph.questions.progress import is_trained_by
from whygrad.graph.questions.stall import DIVERGING, stalls
from whygrad.rules.nonfinite.birth import births, expression, finding, seen
from whygrad.rules.odd_gradient.over_steps import (
    LEAST,
    Followed,
    always,
    asked,
    measured,
    norm_divided_by,
    normalising_op,
    track_of,
)
from whygrad.rules.odd_gradient.series import find_exploding
from whygrad.rules.odd_gradient.wrong_custom_gradient import has_wrong_formula
from whygrad.rules.rule import Finding, rule
from whygrad.rules.thresholds import HUGE_GRADIENT


@rule("WG308", "exploding-gradient", severity=Severity.WARNING, since="0.1.0")
def exploding_gradient(recording: Recording) -> Iterator[Finding]:
    """Detects gradients that grow by orders of magnitude, or are of a size that no training has.

    ## Why it matters
    A recurrence that multiplies by more than one, or a learning rate at which each update overshoots further than the
    last, ends in infinity; before it does, every update throws the weights far away, and nothing warns.

    ## Example
    ```python
    import tensorflow as tf

    recurrent = tf.Variable(3.0 * tf.eye(3), name="recurrent")
    x = tf.random.normal((4, 3), seed=0)
    for _ in range(3):
        with tf.GradientTape() as tape:
            state = x
            for _ in range(24):
                state = state @ recurrent
            loss = tf.reduce_mean(state**2)
        gradients = tape.gradient(loss, [recurrent])
        recurrent.assign_sub(1e-30 * gradients[0])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    recurrent = tf.Variable(0.9 * tf.eye(3), name="recurrent")
    x = tf.random.normal((4, 3), seed=0)
    for _ in range(3):
        with tf.GradientTape() as tape:
            state = x
            for _ in range(24):
                state = state @ recurrent
            loss = tf.reduce_mean(state**2)
        gradients = tape.gradient(loss, [recurrent])
        recurrent.assign_sub(1e-3 * gradients[0])
    ```

    ## Known limits
    Growth is reported from a thousandfold on, over ten steps or more; a size of its own from 1e9 per element on. Where a
    value that is not finite, or a normalisation near zero, was found as well, that is reported and not this.
    """
    if recording.objectives and any(found.stall in DIVERGING for found in stalls(recording)):  # said there
        return
    yield from _diverged(recording)
    unfit = [found.objective for found in misfits(recording)] if recording.objectives else []
    if any(True for _ in seen(recording, Stage.BORN, Stage.ENTERED, Stage.UNPLACED)):
        return
    if any(norm_divided_by(event) is not None for event in recording.events_of(Scaled)) or has_wrong_formula(recording):
        return
    for request, group in measured(recording, least=2):
        if normalising_op(request, group) is not None:
            continue
        if any(is_trained_by(recording, objective, request) for objective in unfit):  # a consequence
            continue
        growth = list(find_exploding(track_of(request, group))) if len(request.steps) >= LEAST else []
        for found in growth or _huge(group):
            yield replace(found, primary=next(iter(asked(request)), None), steps=always(request))


def _diverged(recording: Recording) -> Iterator[Finding]:
    """Shown at the expression that overflows first; where that is inside a layer, which is not to blame, at the step."""
    for born, op in births(recording, "exploding-gradient"):
        found = finding(
            recording,
            born,
            because=f"the values have grown from step to step, until {expression(born)} overflows",
            label="too large for its dtype",
            help="training diverges: use a smaller learning rate, clip the gradients by their norm, or scale inputs and "
            "targets",
        )
        step = born.when.request
        if op.layers and step is not None and found.primary is not None and found.primary.span != step:
            others = tuple(label for label in found.related if label.span != step)
            found = replace(found, primary=Label(step, "training diverges here"), related=(found.primary, *others))
        yield found


def _huge(group: Sequence[Followed]) -> Iterator[Finding]:
    found = [each for each in group if each.peak >= HUGE_GRADIENT * math.sqrt(_size(each))]
    if found:
        worst = max(found, key=lambda each: each.peak)
        yield Finding(
            message=f"the gradients explode: that of `{worst.name}` has a norm of {worst.peak:.2g}",
            variables=tuple(each.name for each in found),
            help="look for what multiplies on the way (a long recurrence, large initial weights), "
            "or clip (`global_clipnorm=1.0`)",
            severity=Severity.WARNING,
        )


def _size(each: Followed) -> int:
    return math.prod(length or 1 for length in each.variable.shape or ())
