"""WG601 assign-between-forward-and-gradient."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Op, Outcome, Recording, Request, TensorId, VariableId
from whygrad.graph.query import Index, index_of
from whygrad.rules.missing import steps_of, variable_name
from whygrad.rules.rule import Finding, rule


@rule("WG601", "assign-between-forward-and-gradient", severity=Severity.ERROR, since="0.1.0")
def assign_between_forward_and_gradient(recording: Recording) -> Iterator[Finding]:
    """Detects variables that are written after the forward pass read them and before their gradient is taken.

    ## Why it matters
    The gradient that comes back belongs to the value the variable had when it was read. Applied to the new value it
    is stale: `assign` in the middle of a step, or two updates from one persistent tape.

    ## Example
    ```python
    import tensorflow as tf

    x = tf.Variable(2.0, name="x")
    with tf.GradientTape() as tape:
        loss = tf.square(x)
        x.assign_add(1.0)
    gradients = tape.gradient(loss, [x])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    x = tf.Variable(2.0, name="x")
    x.assign_add(1.0)
    with tf.GradientTape() as tape:
        loss = tf.square(x)
    gradients = tape.gradient(loss, [x])
    ```

    ## Known limits
    Writes between taking a gradient and applying it (decoupled weight decay) are taken as meant.
    """
    told = set()
    for request in recording.requests:
        index = index_of(request.graph)
        behind = index.open_behind(request.targets, request.tape)
        for source in request.sources:
            late = _late_write(index, request, source.variable, behind) if source.outcome is Outcome.PRESENT else None
            if late is None or source.variable is None or (late.where, late.name) in told:
                continue
            told.add((late.where, late.name))
            names = (variable_name(recording.variables[source.variable]),)
            by = "an optimizer" if late.name == "ApplyGradients" else "this line"
            where = late.where or request.where
            yield Finding(
                message=f"`{names[0]}` is changed by {by} between the forward pass and its gradient: the gradient is of the old value",
                primary=None if where is None else Label(where, "written here, after it was read"),
                variables=names,
                related=() if request.where in (None, where) else (Label(request.where, "gradient taken here"),),
                help="take all gradients before anything is written, or run the forward pass again after the write",
                steps=steps_of(recording, [request]),
            )


def _late_write(index: Index, request: Request, variable: VariableId | None, behind: set[TensorId]) -> Op | None:
    if variable is None:
        return None
    reads = [op for op in index.reads.get(variable, ()) if request.tape in op.tapes and set(op.outputs) & behind]
    if not reads:
        return None
    first = min(op.id for op in reads)
    writes = [op for op in index.written.get(variable, ()) if op.id > first]
    return writes[0] if writes else None
