"""WG110 int-variable."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Label, Severity, Word
from whygrad.fixes.variables import floating
from whygrad.graph import Recording, Request
from whygrad.graph.recording import ABSENT
from whygrad.rules.no_gradient.missing import is_beside_trainable
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import steps_of
from whygrad.source import SourceSpan


@rule("WG110", "int-variable", severity=Severity.ERROR, since="0.1.0")
def int_variable(recording: Recording) -> Iterator[Finding]:
    """Detects gradients asked of variables that hold integers.

    ## Why it matters
    `tf.Variable(3)` is an integer variable: it has no derivative, and the gradient is `None`. TensorFlow knows the
    reason but only logs it at a level nobody sees.

    ## Example
    ```python
    import tensorflow as tf

    count = tf.Variable(3, name="count")
    with tf.GradientTape() as tape:
        loss = tf.cast(count * 2, tf.float32)
    gradients = tape.gradient(loss, [count])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    count = tf.Variable(3.0, name="count")
    with tf.GradientTape() as tape:
        loss = count * 2.0
    gradients = tape.gradient(loss, [count])
    ```

    ## Known limits
    A counter that is not trainable, in a list with variables that are, is reported as `non-trainable-in-list`.
    """
    for request in recording.requests:
        for source in request.sources:
            variable = recording.variables.get(source.variable) if source.variable is not None else None
            if variable is None or variable.is_floating or source.outcome not in ABSENT:
                continue
            if source.watched is None and is_beside_trainable(recording, request, source):
                continue
            yield Finding(
                message=f"no gradient reaches `{variable.name}`: it holds integers ({variable.dtype})",
                primary=None if variable.created is None else Label(variable.created, f"made as {variable.dtype} here"),
                variables=(variable.name,),
                related=() if request.where is None else (Label(request.where, "gradient asked for here"),),
                help=f"make it a floating-point variable: `{Word.VARIABLE}(1.0)` or `dtype={Word.FLOAT32}`",
                steps=steps_of(recording, [request]),
                fixes=partial(floating, _made(recording, request)),
            )


def _made(recording: Recording, request: Request) -> tuple[SourceSpan | None, ...]:
    """Where the variables of integers were made that one request asks for: together they are one mistake."""
    asked = [recording.variables.get(s.variable) for s in request.sources if s.variable is not None]
    return tuple(each.created for each in asked if each is not None and not each.is_floating)
