"""WG109 wrong-source-object."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Label, Severity, Word
from whygrad.fixes.sources import right_source
from whygrad.fixes.tapes import watched_itself
from whygrad.graph import FailureKind, NotATensor, Op, OpKind, Recording, Request, Source
from whygrad.graph.questions.query import Index, index_of
from whygrad.graph.recording import ABSENT
from whygrad.rules.no_gradient.missing import Unconnected, is_explained, missing_of, used_whole
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import also_at, listing, name_of, source_expression, steps_of
from whygrad.source import SourceSpan
from whygrad.source.module import function_around, located


@rule("WG109", "wrong-source-object", severity=Severity.ERROR, since="0.1.0")
def wrong_source_object(recording: Recording) -> Iterator[Finding]:
    """Detects gradients asked of an object that only looks like what went into the loss.

    ## Why it matters
    A symbolic Keras input, the output of a second forward pass, a stacked copy, or a column of what the loss takes whole
    has the right shape and values, but the loss was computed from another tensor. The gradient is `None`, or the request
    raises.

    ## Example
    ```python
    import tensorflow as tf

    x = tf.Variable([1.0, 2.0], name="x")
    with tf.GradientTape() as tape:
        hidden = tf.tanh(x)
        tape.watch(hidden)
        loss = tf.reduce_sum(tf.square(tf.tanh(x)))
    gradients = [tape.gradient(loss, hidden)]
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    x = tf.Variable([1.0, 2.0], name="x")
    with tf.GradientTape() as tape:
        hidden = tf.tanh(x)
        loss = tf.reduce_sum(tf.square(hidden))
    gradients = [tape.gradient(loss, hidden)]
    ```

    ## Known limits
    Which tensor was meant is a guess from what it was made of; that the loss does not use the one asked for is
    certain. A name that was watched and then bound to another tensor is recognised within one function.
    """
    for loose in missing_of(recording).unconnected:
        for source in loose.sources:
            if source.tensor is not None and not is_explained(recording, loose, source):
                yield _tensor(recording, loose, source)
    yield from _rebound_since(recording)
    for request in recording.requests:
        odd = next((s for s in request.sources if s.not_a_tensor is NotATensor.SYMBOLIC), None)
        if odd is not None:
            yield _symbolic(recording, request, odd)
    failure = recording.failure
    if failure is not None and failure.where is not None and failure.kind is FailureKind.SYMBOLIC_SOURCE:
        yield Finding(
            message=f"a symbolic {Word.NETWORK_LIBRARY} tensor was given to the tape: it is never computed, so there is nothing to watch",
            primary=Label(failure.where, "no value ever goes through this tensor"),
            help=_REAL,
        )
    if failure is not None and failure.kind is FailureKind.NOT_A_SOURCE:
        kind = (failure.object_type or "object").removeprefix("builtins.")
        yield Finding(
            message=f"a gradient was asked for a `{kind}`: a value that the loss never saw, not a variable or tensor",
            primary=None
            if failure.where is None
            else Label(failure.where, "not all of these are variables or tensors"),
            help="ask for the variables themselves (`model.trainable_variables`); `get_weights()` and "
            f"`{Word.TO_NUMPY}` give copies",
            fixes=partial(right_source, failure.where),
        )


def _rebound_since(recording: Recording) -> Iterator[Finding]:
    """`tape.watch(x)`, then `x = layer(x)`, then the gradient of `x`: it is that of the last result."""
    for request in recording.requests:
        for source in request.sources:
            name = source_expression(request, source) or ""
            if (
                source.tensor is None
                or source.watched is not None
                or source.outcome in ABSENT
                or not name.isidentifier()
            ):
                continue
            told = _told_to_watch(recording, request, name)
            if told is not None:
                yield Finding(
                    message=f"the gradient of `{name}` is likely not of what the tape watches: the name was bound to "
                    "another tensor since",
                    primary=None if request.where is None else Label(request.where, f"`{name}` is a later result here"),
                    variables=(name,),
                    related=(Label(told, f"`{name}` was another tensor here"), *_made(request, source)),
                    help=f"give what is computed from `{name}` another name, and ask for the gradient of `{name}` itself",
                    steps=steps_of(recording, [request]),
                    severity=Severity.WARNING,
                    certain=False,
                    fixes=partial(watched_itself, told, request.where, name),
                )


def _told_to_watch(recording: Recording, request: Request, name: str) -> SourceSpan | None:
    """Where the tape of a request was told, in the same function, to watch what had this name."""
    tape = recording.tapes.get(request.tape)
    for where in () if tape is None else tape.watched:
        call = located(where)
        words = (
            [] if call is None or not isinstance(call[1], ast.Call) else [ast.unparse(each) for each in call[1].args]
        )
        if words == [name] and function_around(where) == function_around(request.where):
            return where
    return None


def _made(request: Request, source: Source) -> tuple[Label, ...]:
    makers = index_of(request.graph).makers.get(source.tensor, ()) if source.tensor is not None else ()
    return also_at((op.where for op in makers), but=request.where, text="this made the tensor that was asked for")


_REAL = f"watch the real input tensor (`{Word.WATCH}(x)`), call the model on it under the tape, and ask for `x`"


def _tensor(recording: Recording, loose: Unconnected, source: Source) -> Finding:
    request = loose.request
    name = name_of(recording, request, source)
    index = index_of(request.graph)
    made = next(iter(index.makers.get(source.tensor, ())), None) if source.tensor is not None else None
    twin = None if made is None else _twin(index, request, made)
    related = []
    if made is not None and made.where is not None:
        related.append(Label(made.where, "this made the tensor that was asked for"))
    if twin is not None and twin.where is not None and (made is None or twin.where != made.where):
        related.append(Label(twin.where, "this made the one that the loss uses"))
    whole = used_whole(request, source)
    if whole is not None:
        return Finding(
            message=f"no gradient reaches {listing((name,))}: the loss was computed from the whole tensor that it is cut out of",
            primary=None if request.where is None else Label(request.where, "asked for here"),
            variables=(name,),
            related=(*related, *also_at((whole.where,), but=request.where, text="the whole goes in here")),
            help="cut the parts out first, and compute the loss from them, joined again where it takes them together",
            steps=steps_of(recording, [request]),
        )
    if twin is None and not _is_used(index, request, source):
        return Finding(
            message=f"no gradient reaches {listing((name,))}: nothing is computed from it",
            primary=None if request.where is None else Label(request.where, "asked for here"),
            variables=(name,),
            related=tuple(related),
            help="use it in the loss, or leave it out of the list",
            steps=steps_of(recording, [request]),
            fixes=partial(right_source, request.where),
        )
    return Finding(
        message=f"no gradient reaches {listing((name,))}: the loss was computed from another tensor",
        primary=None
        if request.where is None
        else Label(request.where, f"{listing((name,))} is not part of what is differentiated"),
        variables=(name,),
        related=tuple(related),
        help="compute the loss from this very tensor: run the forward pass once and keep its intermediate result",
        steps=steps_of(recording, [request]),
        fixes=partial(right_source, request.where),
    )


def _is_used(index: Index, request: Request, source: Source) -> bool:
    return (
        any(request.tape in op.tapes for op, _ in index.users.get(source.tensor, ()))
        if source.tensor is not None
        else False
    )


def _twin(index: Index, request: Request, made: Op) -> Op | None:
    """An op that does the same in the same layer, at the same place or to the same values, and that the loss uses."""
    behind = index.behind(request.targets)
    for op in index.ops:
        if op is made or not op.does_the_same_as(made) or not any(tensor in behind for tensor in op.outputs):
            continue
        same_layer = bool(made.layers) and op.layers[-1:] == made.layers[-1:]
        same_place = made.where is not None and op.where == made.where
        if same_layer or same_place or (made.inputs and _taken(index, op) == _taken(index, made)):
            return op
    return None


def _taken(index: Index, op: Op) -> list[object]:
    """What an op takes: a variable is the same however often it is read."""
    makers = [next(iter(index.makers.get(tensor, ())), None) for tensor in op.inputs]
    return [
        tensor if maker is None or maker.kind is not OpKind.READ else (OpKind.READ, maker.variable)
        for tensor, maker in zip(op.inputs, makers, strict=True)
    ]


def _symbolic(recording: Recording, request: Request, source: Source) -> Finding:
    name = source_expression(request, source) or "the source"
    return Finding(
        message=f"`{name}` is a symbolic {Word.NETWORK_LIBRARY} tensor: it was never computed, so nothing can be differentiated with respect to it",
        primary=None if request.where is None else Label(request.where, "asked for here"),
        variables=(name,),
        help=_REAL,
        steps=steps_of(recording, [request]),
    )
