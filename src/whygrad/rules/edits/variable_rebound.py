"""WG602 variable-rebound."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Label, Severity, Steps, Word
from whygrad.fixes.variables import assigned_in_place
from whygrad.graph import Recording, VariableId
from whygrad.graph.event import VariableStep
from whygrad.graph.ledger import WriterKind
from whygrad.graph.objects import AttributeSet, Given
from whygrad.rules.no_gradient.claim import claim
from whygrad.rules.no_gradient.missing import missing_of
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, source_expression, steps_of, text_of, variable_name
from whygrad.source import SourceSpan
from whygrad.source.forgotten_binding import forgotten_name
from whygrad.source.naming import rebinds_itself


@rule("WG602", "variable-rebound", severity=Severity.ERROR, since="0.1.0")
def variable_rebound(recording: Recording) -> Iterator[Finding]:
    """Detects Python names and attributes that held a variable and now hold a tensor or another variable.

    ## Why it matters
    `w = w - rate * gradient` and `self.kernel = f(self.kernel)` do not change the variable: they make the name
    point to a tensor. The variable keeps its old value, and the next gradient by that name is `None`.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable(2.0, name="w")
    for step in range(2):
        with tf.GradientTape() as tape:
            loss = tf.square(w - 1.0)
        gradient = tape.gradient(loss, w)
        if gradient is not None:
            w = w - 0.1 * gradient
    gradients = [gradient]
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable(2.0, name="w")
    for step in range(2):
        with tf.GradientTape() as tape:
            loss = tf.square(w - 1.0)
        gradient = tape.gradient(loss, w)
        w.assign_sub(0.1 * gradient)
    gradients = [gradient]
    ```

    ## Known limits
    A name is seen only where a gradient is asked of it, an attribute of a plain object where its new value goes into the
    loss; attributes of layers and modules are seen when they are set.
    """
    for rebound in missing_of(recording).rebound:
        made = None if rebound.made is None else rebound.made.where
        where = made or rebound.request.where
        name = source_expression(rebound.request) or variable_name(rebound.variable)
        yield Finding(
            message=f"`{name}` no longer holds the variable: it was rebound to a tensor, and the tape does not watch that",
            primary=None if where is None else Label(where, "makes a tensor; the variable stays as it was"),
            variables=(variable_name(rebound.variable),),
            related=()
            if rebound.request.where in (None, where)
            else (Label(rebound.request.where, "gradient asked here"),),
            help=f"change the variable in place: `{name}.{Word.ASSIGN_SUB}(rate * gradient)`",
            steps=steps_of(recording, [rebound.request]),
            fixes=partial(assigned_in_place, made),
        )
    known = {event.held for event in recording.events_of(AttributeSet)}
    yield from claim(
        recording,
        lambda missing: missing.rebinds and known.isdisjoint(source.variable for source in missing.sources),
        because=lambda cut: f"{text_of(cut.op.where)} took the place of the variable",
        label=lambda cut: "the attribute holds a tensor from here on",
        help=lambda cut: f"change the variable in place: `{Word.ASSIGN}`",
        fixes=lambda missing: assigned_in_place(missing.cut.op.where),
    )
    yield from _replaced(recording)
    yield from _discarded(recording)


def _replaced(recording: Recording) -> Iterator[Finding]:
    """`self.kernel = f(self.kernel)`, of a variable that somebody wants to train, or that keeps count."""
    wanted = {source.variable for request in recording.requests for source in request.sources}
    wanted |= {pair.variable for update in recording.updates for pair in update.pairs}
    wanted |= {number for number, variable in recording.variables.items() if not variable.trainable}
    found: dict[SourceSpan | None, list[tuple[str, VariableId]]] = {}
    for event in recording.events_of(AttributeSet):
        held = event.held
        if held is None or event.given is not Given.TENSOR or held not in wanted:
            continue
        if not _is_trained_on(recording, held, event.step):
            found.setdefault(event.where, []).append((f"{event.owner}.{event.attribute}", held))
    for where, pairs in found.items():
        names = tuple(dict.fromkeys(recording.variables[held].name for _, held in pairs))
        holders = listing(tuple(dict.fromkeys(holder for holder, _ in pairs)))
        yield Finding(
            message=f"{holders} no longer holds its variable `{names[0]}`: it was rebound to a tensor"
            if len(names) == 1
            else f"{listing(names)} are no longer held by {holders}: tensors took their place",
            primary=None if where is None else Label(where, "replaces the variable by a tensor"),
            variables=names,
            help=f"change the variable in place (`{Word.ASSIGN}`), or use the tensor without storing it there",
            fixes=partial(assigned_in_place, where),
        )


def _is_trained_on(recording: Recording, variable: VariableId, step: int) -> bool:
    """Whether an optimizer goes on updating it: it was put back. It may still be updated in the step it left in."""
    return any(write.variable == variable and write.updates_after(step + 1) for write in recording.ledger)


def _discarded(recording: Recording) -> Iterator[Finding]:
    """`for v, g in zip(...): v = v - rate * g`: the name is bound to the result and forgotten."""
    moved = {pair.variable for update in recording.updates for pair in update.pairs}
    moved |= {write.variable for write in recording.ledger if write.kind is not WriterKind.OTHER}
    found: dict[object, list[VariableStep]] = {}
    for event in recording.events_of(VariableStep):
        unmoved = event.variable not in moved and recording.variables[event.variable].writes == 0
        if is_forgotten(event) or (unmoved and is_thrown_away(event)):
            found.setdefault(event.where, []).append(event)
    for events in found.values():
        names = tuple(dict.fromkeys(variable_name(recording.variables[event.variable]) for event in events))
        where, seen = events[0].where, events[0].seen
        bound = next((f"`{event.bound_to}`" for event in events if event.bound_to is not None), "a name")
        yield Finding(
            message=f"the step of {listing(names)} is computed and thrown away: {bound} is bound to the result, the "
            f"{'variable stays' if len(names) == 1 else 'variables stay'} as {'it was' if len(names) == 1 else 'they were'}",
            primary=None if where is None else Label(where, "makes a tensor that nothing uses"),
            variables=names,
            help=f"change the variable in place: `{bound.strip('`')}.{Word.ASSIGN}(...)`"
            if events[0].bound_to is not None
            else f"change the variable in place: `variable.{Word.ASSIGN_SUB}(rate * gradient)`",
            steps=Steps(seen, seen),
            fixes=partial(assigned_in_place, where),
        )


def is_forgotten(step: VariableStep) -> bool:
    """Whether a name that held the variable is bound to the value, and nobody reads the name."""
    return step.bound_to is not None and forgotten_name(step.where) == step.bound_to


def is_thrown_away(step: VariableStep) -> bool:
    """Whether it looks like an update: what is computed once and printed may be all that was wanted."""
    return step.unused and (step.seen > 1 or step.compiled) and rebinds_itself(step.where)
