"""WG111 constant-target."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Label, Severity
from whygrad.fixes.losses import compared_with
from whygrad.graph import Recording, Request
from whygrad.graph.questions.query import index_of
from whygrad.rules.no_gradient.missing import missing_of
from whygrad.rules.no_gradient.reads import unused_result
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import names_of, steps_of, target_expression
from whygrad.source import SourceSpan


@rule("WG111", "constant-target", severity=Severity.ERROR, since="0.1.0")
def constant_target(recording: Recording) -> Iterator[Finding]:
    """Detects targets that depend on no variable and no watched tensor at all.

    ## Why it matters
    The gradient of a constant is `None` for every variable. Usually the loss was rebuilt from plain numbers, or
    another value than the loss was passed to `tape.gradient`.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable(2.0, name="w")
    with tf.GradientTape() as tape:
        prediction = w * 3.0
        loss = tf.square(tf.constant(6.0) - 1.0)
    gradients = tape.gradient(loss, [w])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable(2.0, name="w")
    with tf.GradientTape() as tape:
        prediction = w * 3.0
        loss = tf.square(prediction - 1.0)
    gradients = tape.gradient(loss, [w])
    ```

    ## Known limits
    A target made of values that left TensorFlow is reported as `numpy-escape` where the way out was seen.
    """
    for request in missing_of(recording).constant:
        target = target_expression(request)
        what = f"`{target}`" if target else "the target"
        where = _made(request) or request.where
        unused = unused_result(recording, request, request.sources)
        asked = None if request.where is None else Label(request.where, "differentiated here")
        yield Finding(
            message=f"{what} is a constant: it depends on no variable and on nothing that the tape watches",
            primary=None if where is None else Label(where, "made from constants only"),
            variables=names_of(recording, request, request.sources),
            related=tuple(each for each in (unused, asked) if each is not None and each.span != where),
            help="compute the target from the model's output under the tape",
            steps=steps_of(recording, [request]),
            fixes=partial(compared_with, where, None if unused is None else unused.span),
        )


def _made(request: Request) -> SourceSpan | None:
    """The last expression that the target is made with; in `fit`, the last one of the user's own loss."""
    behind = index_of(request.graph).behind(request.targets)
    makers = [op for op in request.graph.ops if op.where is not None and not behind.isdisjoint(op.outputs)]
    places = [op.where for op in makers if op.inputs] or [op.where for op in makers]
    own = [where for where in places if where != request.where] if request.model is not None else []
    return next(reversed(own or places), None)
