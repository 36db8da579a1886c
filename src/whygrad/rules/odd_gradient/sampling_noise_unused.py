"""WG302 sampling-noise-unused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Op, OpKind, Recording, Request
from whygrad.graph.objects import ObjectCalled
from whygrad.graph.questions.query import Index, index_of
from whygrad.graph.questions.untrained import training_requests
from whygrad.rules.rule import Finding, rule
from whygrad.source.call_use import UnreadCall, unread_calls


@rule("WG302", "sampling-noise-unused", severity=Severity.WARNING, since="0.1.0")
def sampling_noise_unused(recording: Recording) -> Iterator[Finding]:
    """Detects random draws under a tape that nothing uses.

    ## Why it matters
    In a VAE or a policy the noise makes the sample. If it is drawn but a constant is used in its place, the model
    is deterministic, trains without complaint, and generates nothing new.

    ## Example
    ```python
    import tensorflow as tf

    mean = tf.Variable([0.1, 0.2], name="mean")
    scale = tf.Variable([1.0, 1.0], name="scale")
    with tf.GradientTape() as tape:
        noise = tf.random.normal((2,))
        sample = mean + scale * 1.0
        loss = tf.reduce_sum(tf.square(sample))
    gradients = tape.gradient(loss, [mean, scale])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    mean = tf.Variable([0.1, 0.2], name="mean")
    scale = tf.Variable([1.0, 1.0], name="scale")
    with tf.GradientTape() as tape:
        noise = tf.random.normal((2,))
        sample = mean + scale * noise
        loss = tf.reduce_sum(tf.square(sample))
    gradients = tape.gradient(loss, [mean, scale])
    ```

    ## Known limits
    A draw that is used only after the gradient was taken counts as unused.
    """
    ready = {event.name for event in recording.events_of(ObjectCalled) if event.ready_made}
    requests = training_requests(recording)  # those who only look may leave out what they like
    places = dict.fromkeys(op.where for request in requests for op in _unused_draws(request, ready))
    for where in places:
        if where is not None:
            advice = "use the drawn noise in the sample, for example `mean + scale * noise`, or do not draw it"
            yield _finding(Label(where, "drawn here, then dropped"), advice)
    for call in {call.where: call for request in requests for call in _dropped_calls(recording, request)}.values():
        label = Label(call.where, f"drawn for `{call.name}`, which nothing reads")
        found = _finding(label, f"use `{call.name}`, or leave out the call")
        yield found if call.alone else replace(found, severity=Severity.NOTE)


def _finding(where: Label, advice: str) -> Finding:
    return Finding(message="a random draw is made under the tape but nothing uses it", primary=where, help=advice)


def _unused_draws(request: Request, ready: set[str]) -> Iterator[Op]:
    """Draws under the tape of a request that only their own expression touches.

    Not those of a ready-made layer, or of a library's function, whose result is used: how it draws is its own business.
    """
    index = index_of(request.graph)
    draws = _draws(request, index)
    behind = index.behind(request.targets) if draws else set()
    for op in draws:
        if _is_used_elsewhere(op, index):
            continue
        own_layer = op.layers if op.layers and op.layers[-1] in ready else None
        taking_part = (other for other in request.graph.ops if not behind.isdisjoint(other.outputs))
        if not any(other.layers == own_layer or other.where == op.where for other in taking_part):
            yield op


def _draws(request: Request, index: Index) -> list[Op]:
    """The draws of real numbers under the tape of a request that its target does not depend on."""
    draws = [op for op in request.graph.ops if op.kind is OpKind.NOISE and request.tape in op.tapes]
    behind = index.behind(request.targets) if draws else set()
    floating = (op for op in draws if any(request.graph.tensors[tensor].is_floating for tensor in op.outputs))
    return [op for op in floating if behind.isdisjoint(op.outputs)]


def _dropped_calls(recording: Recording, request: Request) -> Iterator[UnreadCall]:
    """Calls in the block of the tape whose result nothing reads, and with it what is drawn in them."""
    index = index_of(request.graph)
    dropped = [op for op in _draws(request, index) if _is_used_elsewhere(op, index) and not _is_written(op, index)]
    tape = recording.tapes.get(request.tape)
    for call in unread_calls(None if tape is None else tape.entered) if dropped else ():
        if any(_is_of(op, call, request) for op in dropped):
            yield call


def _is_of(draw: Op, call: UnreadCall, request: Request) -> bool:
    """Whether a draw is made by a call: in the function that it runs, or in a layer that it calls."""
    called = (place for layer in draw.layers[:1] for place in request.graph.called.get(layer, ()))
    inside = draw.where is not None and call.body is not None and call.body.holds(draw.where)
    return inside or any(call.where.holds(place) for place in called)


def _is_used_elsewhere(draw: Op, index: Index) -> bool:
    """Whether an op of another line, and of another call of a layer, takes what becomes of it."""
    for user in _users(draw, index):
        same_call = bool(draw.layers) and user.layers == draw.layers
        if (user.where != draw.where and not same_call) or user.kind is OpKind.WRITE:
            return True
    return False


def _is_written(draw: Op, index: Index) -> bool:
    return any(user.kind is OpKind.WRITE for user in _users(draw, index))


def _users(draw: Op, index: Index) -> Iterator[Op]:
    """The ops that take what becomes of a draw."""
    todo, seen = list(draw.outputs), set(draw.outputs)
    while todo:
        for user, _ in index.users.get(todo.pop(), ()):
            yield user
            todo += set(user.outputs) - seen
            seen.update(user.outputs)
