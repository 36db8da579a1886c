"""WG601 assign-between-forward-and-gradient."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from whygrad.diagnostics import Label, Severity, Steps
from whygrad.fixes.updates import after
from whygrad.graph import Action, Op, Outcome, Recording, Request, TensorId, VariableId
from whygrad.graph.questions.query import Index, index_of
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, steps_of, variable_name
from whygrad.source import SourceSpan


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
    for (line, _), written in _by_line(recording).items():
        [first, *_] = written
        names = tuple(dict.fromkeys(variable_name(recording.variables[variable]) for variable, _, _ in written))
        by = "an optimizer" if first.op.action is Action.UPDATE else "this line"
        where, asked = line or first.request.where, first.request.where
        are, theirs = ("is", "its") if len(names) == 1 else ("are", "their")
        yield Finding(
            message=f"{listing(names)} {are} changed by {by} between the forward pass and {theirs} gradient: "
            "the gradient is of the old value",
            primary=None if where is None else Label(where, "written here, after it was read"),
            variables=names,
            related=() if asked in (None, where) else (Label(asked, "gradient taken here"),),
            help="take all gradients before anything is written, or run the forward pass again after the write",
            steps=steps_of(recording, [each.request for each in written]),
            fixes=partial(after, where, asked),
        )


class _Written(NamedTuple):
    variable: VariableId
    op: Op  # the write
    request: Request  # for the gradient of what was there before


def _by_line(recording: Recording) -> dict[tuple[SourceSpan | None, Action | None], list[_Written]]:
    """All that one line writes too late, in whatever request that shows."""
    lines = defaultdict(list)
    for request in recording.requests:
        index = index_of(request.graph)
        behind = index.open_behind(request.targets, request.tape)
        for source in request.sources:
            late = _late_write(index, request, source.variable, behind) if source.outcome is Outcome.PRESENT else None
            if late is not None and source.variable is not None:
                lines[late.where, late.action].append(_Written(source.variable, late, request))
    return lines


def _overwritten(recording: Recording) -> Iterator[Finding]:
    """Given another value after the gradient was taken and before it is applied."""
    for update in recording.updates:
        pairs = [pair for pair in update.pairs if pair.overwritten is not None]
        if not pairs or pairs[0].overwritten is None:
            continue
        names = tuple(variable_name(recording.variables[pair.variable]) for pair in pairs)
        yield Finding(
            message=f"{listing(names)} overwritten after the gradient was taken and before it is applied: the gradient likely no longer fits",
            primary=Label(pairs[0].overwritten, "replaces the value that was differentiated"),
            variables=names,
            related=() if update.where is None else (Label(update.where, "applied here"),),
            help="write first and then take the gradient, or write after the update",
            steps=Steps(update.times, update.times),
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
