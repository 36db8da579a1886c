"""WG504 accumulation-loss-carried-over."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Action, Op, OpKind, Recording, Request, TensorId, VariableId
from whygrad.graph.event import GradientChange
from whygrad.graph.questions.query import Index, index_of
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import asked_at, names_of, steps_of


@rule("WG504", "accumulation-loss-carried-over", severity=Severity.ERROR, since="0.1.0")
def accumulation_loss_carried_over(recording: Recording) -> Iterator[Finding]:
    """Detects losses that are added up over micro-batches and differentiated as if each stood alone.

    ## Why it matters
    A tape knows only what ran inside it. `total += loss` over micro-batches with a tape each, and one gradient at
    the end, gives the gradient of the last micro-batch alone; the others enter as constants. Under one persistent tape
    it is the other way round: the gradient of a running total has all earlier micro-batches in it, and adding these
    gradients up counts the first micro-batch most.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable(2.0, name="w")
    total = tf.constant(0.0)
    for batch in (1.0, 2.0, 3.0):
        with tf.GradientTape() as tape:
            total = total + tf.square(w - batch)
    gradients = tape.gradient(total, [w])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable(2.0, name="w")
    total = tf.constant(0.0)
    with tf.GradientTape() as tape:
        for batch in (1.0, 2.0, 3.0):
            total = total + tf.square(w - batch)
    gradients = tape.gradient(total, [w])
    ```

    ## Known limits
    Only sums of single numbers are taken for sums of losses.
    """
    nested = {event.asked: event for event in recording.events_of(GradientChange) if event.nested}
    for event in nested.values():
        yield Finding(
            message="the gradient of a running total is added up: each loss counts again in every later term",
            primary=None if event.asked is None else Label(event.asked, "the target holds all earlier losses"),
            variables=asked_at(recording, event.asked),
            related=() if event.summed in (None, event.asked) else (Label(event.summed, "added up here"),),
            help="differentiate the loss of this micro-batch alone; add the losses up for printing only",
        )
    for request in recording.requests:
        asked = {source.variable for source in request.sources} - {None}
        index = index_of(request.graph)
        behind = index.open_behind(request.targets, request.tape)
        for op in request.graph.ops:
            if (
                request.tape in op.tapes
                and op.outputs
                and op.outputs[0] in behind
                and _carries(index, request, op, asked)
            ):
                yield Finding(
                    message="a loss of an earlier tape is added to this one: it enters the gradient as a constant",
                    primary=None if op.where is None else Label(op.where, "one of these was recorded by another tape"),
                    variables=names_of(recording, request, request.sources),
                    related=() if request.where is None else (Label(request.where, "covers the last tape only"),),
                    help="take the gradient of each loss with its own tape and add up the gradients, or compute all of them "
                    "under one tape",
                    steps=steps_of(recording, [request]),
                )
                break


def _carries(index: Index, request: Request, op: Op, asked: set[VariableId | None]) -> bool:
    tensors = index.tensors
    if op.action is not Action.ADD or any(tensors[tensor].shape != () for tensor in op.inputs):
        return False
    return any(_is_of_another_tape(index, request, tensor, asked) for tensor in op.inputs)


def _is_of_another_tape(index: Index, request: Request, tensor: TensorId, asked: set[VariableId | None]) -> bool:
    made = index.makers.get(tensor, ())
    if not any(op.tapes and request.tape not in op.tapes for op in made):
        return False
    return any(
        op.kind is OpKind.READ and op.variable in asked and request.tape not in op.tapes
        for each in index.behind([tensor])
        for op in index.makers.get(each, ())
    )
