"""WG114 custom-gradient."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Recording
from whygrad.graph.event import CustomGradient
from whygrad.graph.questions.query import Reason
from whygrad.graph.recording import ABSENT
from whygrad.rules.no_gradient.claim import claim
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing
from whygrad.source import SourceSpan
from whygrad.source.naming import return_of_none


@rule("WG114", "custom-gradient", severity=Severity.ERROR, since="0.1.0")
def custom_gradient(recording: Recording) -> Iterator[Finding]:
    """Detects custom gradients that drop the gradient: `None` for an input, forgotten variables, or a backward pass that cannot be differentiated again.

    ## Why it matters
    A function under `tf.custom_gradient` is a black box: its gradient is what its inner function returns, and
    nothing else. What that returns as `None`, computes under `stop_gradient`, or leaves out is lost.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable(2.0, name="w")

    @tf.custom_gradient
    def clipped(x):
        def grad(upstream):
            return None
        return tf.clip_by_value(x, 0.0, 1.0), grad

    with tf.GradientTape() as tape:
        loss = tf.square(clipped(w * 1.0))
    gradients = tape.gradient(loss, [w])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable(2.0, name="w")

    @tf.custom_gradient
    def clipped(x):
        def grad(upstream):
            return upstream
        return tf.clip_by_value(x, 0.0, 1.0), grad

    with tf.GradientTape() as tape:
        loss = tf.square(clipped(w * 1.0))
    gradients = tape.gradient(loss, [w])
    ```

    ## Known limits
    Tensors that the function takes from around it instead of as arguments get no gradient; this is reported at the
    call.
    """
    gradients = list(recording.events_of(CustomGradient))
    withheld = {event.function: _return(event) for event in gradients if event.withheld}
    found = claim(
        recording,
        lambda missing: (
            missing.cut.reason is Reason.CUSTOM
            or (
                missing.cut.op.custom is not None
                and missing.cut.reason in (Reason.BLOCKED, Reason.STOPPED, Reason.WRITTEN)
            )
        ),
        because=lambda cut: f"the custom gradient `{cut.op.custom}` does not pass it on",
        label=lambda cut: "the custom gradient ends it here",
        help=lambda cut: (
            "return a gradient for every argument; take the tensors it needs as arguments, and write the "
            "gradient with differentiable ops where second derivatives are wanted"
        ),
        instead=lambda missing: (
            withheld.get(missing.cut.op.custom or "") if missing.cut.reason is Reason.CUSTOM else None
        ),
    )
    in_vain = [event.where for event in gradients if event.where is not None and _asks_in_vain(recording, event)]
    for each in found:
        said = each.primary is not None and any(where.holds(each.primary.span) for where in in_vain)
        yield replace(each, severity=Severity.NOTE) if said else each
    for event in gradients:
        if not event.takes_variables:
            yield Finding(
                message=f"the custom gradient `{event.function}` forgets the variables it uses: "
                f"{listing(event.variables)}",
                primary=None if event.where is None else Label(event.where, "takes no `variables` argument"),
                variables=event.variables,
                help="give it a `variables=None` argument and return `(input_gradients, variable_gradients)`",
            )


def _asks_in_vain(recording: Recording, event: CustomGradient) -> bool:
    """Whether the gradient function asks a tape of its own, and that gives nothing: the cause is there."""
    return any(
        request.where is not None
        and event.where is not None
        and event.where.holds(request.where)
        and any(source.outcome in ABSENT for source in request.sources)
        for request in recording.requests
    )


def _return(event: CustomGradient) -> SourceSpan | None:
    return None if event.where is None else return_of_none(event.where.file, event.where.line)
