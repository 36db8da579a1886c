"""WG116 tensorarray-not-stacked."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Label, Severity
from whygrad.fixes.losses import stacked
from whygrad.graph import NotATensor, Recording, Request
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import names_of, source_expression, steps_of, target_expression


@rule("WG116", "tensorarray-not-stacked", severity=Severity.ERROR, since="0.1.0")
def tensorarray_not_stacked(recording: Recording) -> Iterator[Finding]:
    """Detects gradients asked of a `tf.TensorArray` object instead of a tensor.

    ## Why it matters
    A TensorArray is a Python object that collects tensors; it is not one. `tape.gradient` and `tape.jacobian` fail
    on it with an attribute error that says nothing about that.

    ## Example
    ```python
    import tensorflow as tf

    x = tf.Variable([1.0, 2.0], name="x")
    with tf.GradientTape() as tape:
        states = tf.TensorArray(tf.float32, size=2)
        for t in range(2):
            states = states.write(t, tf.tanh(x) * float(t + 1))
    try:
        gradients = [tape.gradient(states, x)]
    except (AttributeError, TypeError, ValueError):
        gradients = [None]
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    x = tf.Variable([1.0, 2.0], name="x")
    with tf.GradientTape() as tape:
        states = tf.TensorArray(tf.float32, size=2)
        for t in range(2):
            states = states.write(t, tf.tanh(x) * float(t + 1))
        stacked = states.stack()
    gradients = [tape.gradient(stacked, x)]
    ```

    ## Known limits
    None known.
    """
    for request in recording.requests:
        if request.target_not_a_tensor is NotATensor.ARRAY:
            name = target_expression(request) or "the target"
            yield _finding(recording, request, name, request.target_type, "it cannot be differentiated")
        for source in request.sources:
            if source.not_a_tensor is NotATensor.ARRAY:
                name = source_expression(request, source) or "the source"
                yield _finding(
                    recording, request, name, source.type_name, "nothing can be differentiated with respect to it"
                )


def _finding(recording: Recording, request: Request, name: str, array: str, so: str) -> Finding:
    known = not name.startswith("the ")
    return Finding(
        message=f"{f'`{name}`' if known else name} is a {array}, not a tensor: {so}",
        primary=None if request.where is None else Label(request.where, f"a {array} object is passed"),
        variables=names_of(recording, request, request.sources),
        help=f"stack it under the tape and use the result: `{name if known else 'array'}.stack()`",
        steps=steps_of(recording, [request]),
        fixes=partial(stacked, request.where),
    )
