"""WG105 outside-tape."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Final

from whygrad.diagnostics import Fix, Label, Severity, Word
from whygrad.fixes.blocks import into_block, without_block, without_statement
from whygrad.fixes.owned import recomputed
from whygrad.graph import Op, OpKind, Outcome, Recording, Request, Source, TensorId, VariableId
from whygrad.graph.questions.query import Cut, Index, Reason, index_of
from whygrad.graph.questions.untrained import training_requests
from whygrad.rules.no_gradient.claim import claim
from whygrad.rules.no_gradient.missing import MissingCut, missing_of
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import steps_of, text_of, variable_name
from whygrad.source import SourceSpan
from whygrad.source.module import function_around

_RUN_ONCE: Final = ("__init__", "build")


@rule("WG105", "outside-tape", severity=Severity.ERROR, since="0.1.0")
def outside_tape(recording: Recording) -> Iterator[Finding]:
    """Detects values on the path to the loss that were computed while the tape was not recording.

    ## Why it matters
    A tape knows only what runs inside its `with` block. One operation before it, after it, or in the call of
    `tape.gradient` itself cuts everything behind it off. So does what runs under `tape.stop_recording()`, and
    `tape.reset()` forgets all that ran before.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable(2.0, name="w")
    prediction = w * 3.0
    with tf.GradientTape() as tape:
        loss = tf.square(prediction - 1.0)
    gradients = tape.gradient(loss, [w])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable(2.0, name="w")
    with tf.GradientTape() as tape:
        prediction = w * 3.0
        loss = tf.square(prediction - 1.0)
    gradients = tape.gradient(loss, [w])
    ```

    ## Known limits
    Values computed more than two updates ago are known only as inputs: then the variable counts as not in the loss.
    """
    yield from claim(
        recording,
        _is_outside,
        because=_because,
        label=_label,
        help=functools.partial(_help, recording),
        fixes=functools.partial(_fixes, recording),
    )
    yield from claim(
        recording,
        lambda missing: missing.lapse is not None and not missing.lapse.emptied,
        because=lambda cut: f"{text_of(cut.op.where)} ran while the tape's recording was stopped",
        label=lambda cut: "not recorded",
        help=lambda cut: f"move {text_of(cut.op.where)} out of the block that stops the recording",
        beside=lambda missing: _lapse(missing, "the recording is stopped here"),
        fixes=lambda missing: without_block(None if missing.lapse is None else missing.lapse.where),
    )
    yield from claim(
        recording,
        lambda missing: missing.lapse is not None and missing.lapse.emptied,
        because=lambda cut: "the tape was reset, and what it had recorded is gone",
        label=lambda cut: "drops all that the tape had recorded",
        help=lambda cut: "take the gradient before this, or run the forward pass after it",
        instead=lambda missing: None if missing.lapse is None else missing.lapse.where,
        fixes=lambda missing: without_statement(None if missing.lapse is None else missing.lapse.where),
    )
    yield from _kept_from_before(recording)


def _kept_from_before(recording: Recording) -> Iterator[Finding]:
    """A weight that was computed once from a variable, which is trained in another way: it stays what it was."""
    said = set[SourceSpan | None]()
    for request in training_requests(recording):
        for source in request.sources:
            known = None if source.variable is None else recording.variables.get(source.variable)
            made = None if known is None or source.outcome is not Outcome.PRESENT else _weight_of(request, source)
            if known is None or made is None or made.where in said:
                continue
            said.add(made.where)
            name, function = variable_name(known), function_around(made.where)
            yield Finding(
                message=f"`{name}` is trained, but {text_of(made.where)} likely stays what it was when `{function}` ran",
                primary=None if made.where is None else Label(made.where, "computed once, and never again"),
                variables=(name,),
                help=_elsewhere(text_of(made.where), str(function)),
                steps=steps_of(recording, [request]),
                severity=Severity.WARNING,
                certain=False,
            )


def _weight_of(request: Request, source: Source) -> Op | None:
    """The op that made, while an object was made, what the pass multiplies by as by a weight; a mere copy is none."""
    index = index_of(request.graph)
    reads = index.reads.get(source.variable or VariableId(0), ())
    todo = [op for op in reads if not op.tapes and function_around(op.where) in _RUN_ONCE]
    seen = set(todo)
    while todo:
        made = todo.pop()
        users = {user for tensor in made.outputs for user in _users(index, tensor)}
        if made.inputs and any(user.kind is OpKind.CONTRACT and request.tape in user.tapes for user in users):
            return made
        later = {user for user in users if not user.tapes and user.kind is not OpKind.WRITE} - seen
        todo += later
        seen |= later
    return None


def _users(index: Index, tensor: TensorId) -> Iterator[Op]:
    """The ops that a tensor goes into, as it is or copied."""
    todo, seen = [tensor], {tensor}
    while todo:
        for user, _ in index.users.get(todo.pop(), ()):
            shapes = {index.tensors[each].shape for each in (tensor, *user.outputs)}
            if user.kind is OpKind.MOVE and len(shapes) == 1:
                todo += (copy for copy in user.outputs if copy not in seen)
                seen.update(user.outputs)
            else:
                yield user


def _fixes(recording: Recording, missing: MissingCut) -> Iterator[Fix]:
    request = missing.request
    tape = recording.tapes.get(request.tape)
    yield from recomputed(missing.cut.op.where)
    yield from into_block(missing.cut.op.where, None if tape is None else tape.entered, request.where)


def _is_outside(missing: MissingCut) -> bool:
    return missing.cut.reason is Reason.OUTSIDE and missing.lapse is None and not missing.rebinds


def _lapse(missing: MissingCut, text: str) -> tuple[Label, ...]:
    return () if missing.lapse is None or missing.lapse.where is None else (Label(missing.lapse.where, text),)


def _because(cut: Cut) -> str:
    if cut.op.kind is OpKind.GRADIENT:
        return "an inner gradient was taken while the tape was not recording"
    return f"{text_of(cut.op.where)} ran while the tape was not recording"


def _label(cut: Cut) -> str:
    return "not recorded: outside the tape's `with` block"


def _elsewhere(text: str, function: str) -> str:
    user = "`call`" if function == "build" else "the method that uses it"
    return f"compute {text} in {user}, not in `{function}`, which runs once and while no tape records"


def _help(recording: Recording, cut: Cut) -> str:
    if cut.op.kind is OpKind.GRADIENT:
        return "take the inner gradient inside the outer tape's `with` block"
    block, text = f"`with {Word.TAPE}()` block", text_of(cut.op.where)
    request = next(missing.request for missing in missing_of(recording).cuts if missing.cut is cut)
    entered = recording.tapes[request.tape].entered if request.tape in recording.tapes else None
    function = function_around(cut.op.where)
    if function in _RUN_ONCE:
        return _elsewhere(text, str(function))
    if request.model is not None and entered == request.where:  # the tape of a training loop that is not the user's
        return f"compute {text} in the forward pass or in the loss, so that every step computes it"
    if function is None or function == function_around(entered):
        return f"move {text} into the {block}"
    return f"call `{function}`, which computes {text}, inside the {block}"
