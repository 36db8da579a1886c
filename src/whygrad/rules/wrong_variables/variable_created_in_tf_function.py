"""WG204 variable-created-in-tf-function."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Label, Severity, Word
from whygrad.fixes.making import built_before, made_once, owner_made_once
from whygrad.fixes.states import unwrapped
from whygrad.graph import FailureKind, Recording
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import made_at_line


@rule("WG204", "variable-created-in-tf-function", severity=Severity.ERROR, since="0.1.0")
def variable_created_in_tf_function(recording: Recording) -> Iterator[Finding]:
    """Detects variables that are created while a `tf.function` is traced again.

    ## Why it matters
    A traced function may create variables on its first call only. A variable, a layer or an optimizer made inside
    it raises `tf.function only supports singleton tf.Variables ...` at the next trace; an optimizer that is first
    used inside makes its slots there.

    ## Example
    ```python
    import tensorflow as tf

    x = tf.Variable(1.0, name="x")

    @tf.function
    def step():
        w = tf.Variable(2.0, name="w")
        with tf.GradientTape() as tape:
            loss = tf.square(w * x)
        return tape.gradient(loss, x)

    gradients = [step()]
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    x = tf.Variable(1.0, name="x")
    w = tf.Variable(2.0, name="w")

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.square(w * x)
        return tape.gradient(loss, x)

    gradients = [step()]
    ```

    ## Known limits
    Reported when TensorFlow raises; a creation that TensorFlow tolerates is not.
    """
    failure = recording.failure
    if failure is not None and failure.kind is FailureKind.VARIABLE_OF_TRACED:
        yield Finding(
            message="a variable is made of a value that is computed while a function is traced",
            primary=None if failure.where is None else Label(failure.where, "creates a variable while tracing"),
            help="use the value itself; a variable that is to keep it is made once, outside, and assigned to here",
            fixes=partial(unwrapped, failure.where),
        )
    if failure is None or failure.kind is not FailureKind.VARIABLE_IN_TRACE:
        return
    yield Finding(
        message="a variable is created inside a traced function after its first call",
        primary=None if failure.where is None else Label(failure.where, "creates a variable while tracing"),
        variables=made_at_line(recording, failure.where),
        help=f"create variables, layers and optimizers outside the `{Word.COMPILED_FUNCTION}`; call `optimizer.build(variables)` before it",
        fixes=lambda: [
            f for make in (unwrapped, made_once, owner_made_once, built_before) for f in make(failure.where)
        ],
    )
