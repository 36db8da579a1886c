"""WG302 sampling-noise-unused."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Op, OpKind, Recording, Request
from whygrad.graph.objects import ObjectCalled
from whygrad.graph.questions.query import Index, index_of
from whygrad.rules.rule import Finding, rule


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
    places = dict.fromkeys(op.where for request in recording.requests for op in _unused_draws(request, ready))
    for where in places:
        if where is not None:
            yield Finding(
                message="a random draw is made under the tape but nothing uses it",
                primary=Label(where, "drawn here, then dropped"),
                help="use the drawn noise in the sample, for example `mean + scale * noise`, or do not draw it",
            )


def _unused_draws(request: Request, ready: set[str]) -> Iterator[Op]:
    """Draws under the tape of a request that only their own expression touches.

    Not those of a ready-made layer, or of a library's function, whose result is used: how it draws is its own business.
    """
    draws = [op for op in request.graph.ops if op.kind is OpKind.NOISE and request.tape in op.tapes]
    index = index_of(request.graph)
    behind = index.behind(request.targets) if draws else set()
    for op in draws:
        floating = any(request.graph.tensors[tensor].is_floating for tensor in op.outputs)
        if not floating or not behind.isdisjoint(op.outputs) or _is_used_elsewhere(op, index):
            continue
        own_layer = op.layers if op.layers and op.layers[-1] in ready else None
        taking_part = (other for other in request.graph.ops if not behind.isdisjoint(other.outputs))
        if not any(other.layers == own_layer or other.where == op.where for other in taking_part):
            yield op


def _is_used_elsewhere(draw: Op, index: Index) -> bool:
    todo, seen = list(draw.outputs), set(draw.outputs)
    while todo:
        for user, _ in index.users.get(todo.pop(), ()):
            same_call = bool(draw.layers) and user.layers == draw.layers
            if (user.where != draw.where and not same_call) or user.kind is OpKind.WRITE:
                return True
            todo += set(user.outputs) - seen
            seen.update(user.outputs)
    return False
