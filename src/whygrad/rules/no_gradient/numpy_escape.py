"""WG104 numpy-escape."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Label, Severity, Word
from whygrad.fixes.array_calls import without_arrays
from whygrad.graph import Departure, OpKind, Recording, Request, Source
from whygrad.graph.questions.escape import places_left
from whygrad.graph.questions.query import Cut, Reason, index_of
from whygrad.rules.no_gradient.claim import claim
from whygrad.rules.no_gradient.missing import MissingCut
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, names_of, steps_of, text_of
from whygrad.source import SourceSpan


@rule("WG104", "numpy-escape", severity=Severity.ERROR, since="0.1.0")
def numpy_escape(recording: Recording) -> Iterator[Finding]:
    """Detects values that left TensorFlow on the way to the loss and came back as constants.

    ## Why it matters
    `.numpy()`, `np.*`, `float()`, `model.predict()` and `tf.numpy_function` give plain numbers. What is computed
    from them is a constant for the tape: the gradient ends there, silently.

    ## Example
    ```python
    import numpy as np
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0], name="w")
    with tf.GradientTape() as tape:
        scaled = w * 3.0
        total = np.sum(scaled.numpy())
        loss = tf.square(tf.constant(total) - 1.0)
    gradients = tape.gradient(loss, [w])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0], name="w")
    with tf.GradientTape() as tape:
        scaled = w * 3.0
        total = tf.reduce_sum(scaled)
        loss = tf.square(total - 1.0)
    gradients = tape.gradient(loss, [w])
    ```

    ## Known limits
    What left and what came back are linked by order and by the code between them, so this is `likely` unless an op
    of TensorFlow itself (`numpy_function`) did it.
    """
    yield from claim(
        recording,
        lambda missing: missing.cut.reason is Reason.FOREIGN,
        because=_because,
        label=lambda cut: f"the value leaves {Word.FRAMEWORK} here; what comes back is a constant",
        help=_help,
        beside=lambda missing: tuple(Label(where, "and here") for where in _left(missing)[1:]),
        fixes=lambda missing: without_arrays(*_left(missing)),
    )
    yield from _inside_python_functions(recording)


def _left(missing: MissingCut) -> tuple[SourceSpan, ...]:
    """Where the value leaves that the diagnostic is about, and the others on the same way."""
    return places_left(missing.request, missing.sources, missing.cut.op)


def _inside_python_functions(recording: Recording) -> Iterator[Finding]:
    """A `py_function` has a gradient, but its body left TensorFlow: the gradient is zero, not None."""
    bodies = {left.where: left for left in recording.events_of(Departure) if left.function}
    for where, left in bodies.items():
        for request in recording.requests:
            names = names_of(recording, request, _only_through(request))
            if names:
                yield Finding(
                    message=f"no gradient comes back to {listing(names)} through the Python function "
                    f"`{left.function}`: its body leaves {Word.FRAMEWORK}",
                    primary=Label(where, f"the value leaves {Word.FRAMEWORK} here; the gradient comes back as zero"),
                    variables=names,
                    help=f"compute the body with {Word.FRAMEWORK} ops on the tensors it is given",
                    steps=steps_of(recording, [request]),
                    fixes=partial(without_arrays, where),
                )
                break


def _only_through(request: Request) -> list[Source]:
    """Sources whose every open way to the target goes through a Python function."""
    index = index_of(request.graph)
    bodies = {tensor for op in request.graph.ops if op.kind is OpKind.FOREIGN for tensor in op.outputs}
    if not bodies:
        return []
    around = index.open_behind(request.targets, request.tape, avoiding=bodies)
    through = index.open_behind(request.targets, request.tape)
    return [
        source
        for source in request.sources
        if (starts := set(index.starts(source))) and starts & through and not starts & around
    ]


def _help(cut: Cut) -> str:
    what = text_of(cut.op.where)
    if what.endswith(".numpy()`"):
        return f"leave out `.numpy()`, and compute with {Word.FRAMEWORK} ops instead of NumPy's: {what.removesuffix('.numpy()`')}`"
    if ".predict(" in what:
        return "call the model itself (`model(x, training=True)`) instead of `predict`"
    return f"compute {what} with {Word.FRAMEWORK} ops instead of NumPy's"


def _because(cut: Cut) -> str:
    likely = "likely because " if cut.op.inferred else ""
    return f"{likely}the value leaves {Word.FRAMEWORK} on its way to the loss"
