"""WG703 loss-shape-broadcast."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Op, OpKind, Recording, Request, TensorId
from whygrad.graph.query import Index, index_of
from whygrad.rules.missing import steps_of
from whygrad.rules.rule import Finding, rule


@rule("WG703", "loss-shape-broadcast", severity=Severity.WARNING, since="0.1.0")
def loss_shape_broadcast(recording: Recording) -> Iterator[Finding]:
    """Detects predictions and targets that broadcast against each other instead of being compared one by one.

    ## Why it matters
    A prediction of shape (N, 1) minus a target of shape (N,) is an (N, N) matrix of all pairs. Its mean is a loss,
    it has a gradient, and it pulls every prediction to the mean of the targets.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable([[2.0]], name="w")
    x = tf.constant([[1.0], [2.0], [3.0]])
    y = tf.constant([2.0, 4.0, 6.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
    gradients = tape.gradient(loss, [w])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable([[2.0]], name="w")
    x = tf.constant([[1.0], [2.0], [3.0]])
    y = tf.constant([[2.0], [4.0], [6.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
    gradients = tape.gradient(loss, [w])
    ```

    ## Known limits
    Pairwise losses that really want all pairs are recognised where the axes are spelled out (`x[:, None]`).
    """
    for request in recording.requests:
        index = index_of(request.graph)
        reached = index.open_behind(request.targets, request.tape)
        for op in request.graph.ops:
            found = _mixed(index, request, op, reached)
            if found is not None and op.where is not None:
                left, right, result = found
                yield Finding(
                    message=f"prediction and target likely broadcast against each other: {left} and {right} give {result}",
                    primary=Label(op.where, f"{left} against {right} compares every pair"),
                    help="give both the same shape: `tf.squeeze(prediction, -1)` or `target[:, None]`",
                    steps=steps_of(recording, [request]),
                    certain=False,
                )
                break


_COMPARING = ("Sub", "SquaredDifference")


def _mixed(index: Index, request: Request, op: Op, reached: set[TensorId]) -> tuple[str, str, str] | None:
    """(N, 1) against (N,) in a difference whose one side is trained and whose other side is data."""
    if op.name not in _COMPARING or request.tape not in op.tapes or len(op.inputs) != 2:
        return None
    shapes = [index.tensors[tensor].shape for tensor in op.inputs]
    if shapes[0] is None or shapes[1] is None or op.outputs[0] not in reached:
        return None
    short, long = sorted(shapes, key=lambda shape: len(shape or ()))
    if short is None or long is None or len(short) != 1 or len(long) != 2 or long[1] != 1:
        return None
    size = short[0]
    if long[0] != size or (size is not None and size < 2):  # both may be unknown: the batch
        return None
    trained = [_variables_behind(index, tensor) for tensor in op.inputs]
    if (
        trained.count(True) != 1
        or not _is_predicted(index, op.inputs[trained.index(True)])
        or not _only_reduced(index, op, request)
    ):
        return None
    shown = [str(shape).replace("None", "N") for shape in (*shapes, (size, size))]
    return shown[0], shown[1], shown[2]


def _variables_behind(index: Index, tensor: TensorId) -> bool:
    return any(op.kind is OpKind.READ for t in index.behind([tensor]) for op in index.makers.get(t, ()))


def _is_predicted(index: Index, tensor: TensorId) -> bool:
    """A model computed it; a bare parameter may well be compared with every value."""
    return any(op.kind is OpKind.CONTRACT for t in index.behind([tensor]) for op in index.makers.get(t, ()))


def _only_reduced(index: Index, op: Op, request: Request) -> bool:
    """Between the difference and the loss there is only per-element arithmetic and a reduction."""
    ahead = index.ahead(op.outputs) & index.behind(request.targets)
    kinds = {user.kind for tensor in ahead for user, _ in index.users.get(tensor, ()) if set(user.outputs) & ahead}
    return OpKind.REDUCE in kinds and not kinds & {OpKind.CONTRACT, OpKind.SOFTMAX}
