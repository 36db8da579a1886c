"""WG601 assign-between-forward-and-gradient."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity, Steps
from whygrad.graph import Action, Op, Outcome, Recording, Request, TensorId, VariableId
from whygrad.graph.query import Index, index_of
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, steps_of, variable_name


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
    Between taking a gradient and applying it, only writes of values that do not come from the variable itself are
    reported: decoupled weight decay, clipping and putting a saved copy back are meant.
    """
    yield from _overwritten(recording)
    told = set()
    for request in recording.requests:
        index = index_of(request.graph)
        behind = index.open_behind(request.targets, request.tape)
        for source in request.sources:
            late = _late_write(index, request, source.variable, behind) if source.outcome is Outcome.PRESENT else None
            if late is None or source.variable is None or (late.where, late.action) in told:
                continue
            told.add((late.where, late.action))
            names = (variable_name(recording.variables[source.variable]),)
            by = "an optimizer" if late.action is Action.UPDATE else "this line"
            where = late.where or request.where
            yield Finding(
                message=f"`{names[0]}` is changed by {by} between the forward pass and its gradient: the gradient is of the old value",
                primary=None if where is None else Label(where, "written here, after it was read"),
                variables=names,
                related=() if request.where in (None, where) else (Label(request.where, "gradient taken here"),),
                help="take all gradients before anything is written, or run the forward pass again after the write",
                steps=steps_of(recording, [request]),
            )


def _overwritten(recording: Recording) -> Iterator[Finding]:
    """Given another value after the gradient was taken and before it is applied."""
    for update in recording.updates:
        pairs = [pair for pair in update.pairs if pair.overwritten is not None]
        if not pairs or pairs[0].overwritten is None:
            continue
        names = tuple(variable_name(recording.variables[pair.variable]) for pair in pairs)
        yield Finding(
            message=f"{listing(names)} overwritten after the gradient was taken and before it is applied: it is likely of no use there",
            primary=Label(pairs[0].overwritten, "another value is put in place of the one that was differentiated"),
            variables=names,
            related=() if update.where is None else (Label(update.where, "applied here"),),
            help="write first and then take the gradient, or write after the update",
            steps=Steps(update.seen, update.seen),
            severity=Severity.WARNING,
            certain=False,
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
