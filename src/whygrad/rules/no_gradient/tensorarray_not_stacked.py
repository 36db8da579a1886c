"""WG116 tensorarray-not-stacked."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Recording
from whygrad.rules.missing import names_of, steps_of, target_expression
from whygrad.rules.rule import Finding, rule


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
        if "TensorArray" not in (request.target_type, *(source.type_name for source in request.sources)):
            continue
        target = target_expression(request) or "the target"
        yield Finding(
            message=f"`{target}` is a TensorArray, not a tensor: it cannot be differentiated",
            primary=None if request.where is None else Label(request.where, "a TensorArray object is handed over"),
            variables=names_of(recording, request, request.sources),
            help=f"stack it under the tape and differentiate the result: `{target}.stack()`",
            steps=steps_of(recording, [request]),
        )
