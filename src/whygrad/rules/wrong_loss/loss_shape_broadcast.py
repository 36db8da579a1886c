"""WG703 loss-shape-broadcast."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity, Steps
from whygrad.graph import Op, OpKind, Recording, Request, TensorId
from whygrad.graph.query import Index, index_of
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import steps_of
from whygrad.source import SourceSpan


@rule("WG703", "loss-shape-broadcast", severity=Severity.WARNING, since="0.1.0")
def loss_shape_broadcast(recording: Recording) -> Iterator[Finding]:
    """Detects predictions and targets, or weights, that broadcast against each other instead of meeting one by one.

    ## Why it matters
    A prediction of shape (N, 1) minus a target of shape (N,) is an (N, N) matrix of all pairs. Its mean is a loss,
    it has a gradient, and it pulls every prediction to the mean of the targets. A column of sample weights times a
    row of losses is such a matrix too: every sample gets the mean weight.

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
                yield _finding(op.where, op.name in _COMPARING, *found, steps_of(recording, [request]))
                break


_COMPARING = ("Sub", "SquaredDifference")
_ADDING = ("AddV2", "Sub")
_WEIGHING = ("Mul", "RealDiv", "DivNoNan")  # a sum of all pairs has the mean of the sum of each


def _finding(where: SourceSpan, compares: bool, left: str, right: str, result: str, steps: Steps) -> Finding:
    what, verb = ("prediction and target", "compares") if compares else ("values of the examples", "multiplies")
    squeezed, other = ("prediction", "target") if compares else ("weights", "losses")
    return Finding(
        message=f"{what} likely broadcast against each other: {left} and {right} give {result}",
        primary=Label(where, f"{left} against {right} {verb} every pair"),
        help=f"give both the same shape: `tf.squeeze({squeezed}, -1)` or `{other}[:, None]`",
        steps=steps,
        certain=False,
    )


def _mixed(index: Index, request: Request, op: Op, reached: set[TensorId]) -> tuple[str, str, str] | None:
    """(N, 1) against (N,) in a difference or product whose one side is trained and whose other side is data.

    Or in what makes a target for it: there, a network's answer and data.
    """
    if len(op.inputs) != 2 or not op.outputs:
        return None
    trains = request.tape in op.tapes and op.outputs[0] in reached
    names = (*_COMPARING, *_WEIGHING) if trains else (*_ADDING, *_WEIGHING)
    if op.name not in names or not (trains or op.outputs[0] in index.behind(request.targets)):
        return None
    shapes = [index.tensors[tensor].shape for tensor in op.inputs]
    if shapes[0] is None or shapes[1] is None:
        return None
    short, long = sorted(shapes, key=lambda shape: len(shape or ()))
    if short is None or long is None or len(short) != 1 or len(long) != 2 or long[1] != 1:
        return None
    size = short[0]
    if long[0] != size or (size is not None and size < 2):  # both may be unknown: the batch
        return None
    trained = [tensor for tensor in op.inputs if _variables_behind(index, tensor)]
    if not trained or not all(_is_predicted(index, tensor) for tensor in trained):
        return None
    if op.name in _WEIGHING or not trains:
        column = next(tensor for tensor in op.inputs if index.tensors[tensor].shape == long)
        meant = _is_spelled_out(index, column)
    else:
        meant = len(trained) > 1
    if meant or not _only_reduced(index, op, request):
        return None
    shown = [str(shape).replace("None", "N") for shape in (*shapes, (size, size))]
    return shown[0], shown[1], shown[2]


def _is_spelled_out(index: Index, column: TensorId) -> bool:
    """Whether user code made a row into the column, before what it did to its elements: all pairs are meant then."""
    shape, waiting, seen = index.tensors[column].shape, [column], {column}
    while waiting:
        for op in index.makers.get(waiting.pop(), ()):
            shapes = [index.tensors[tensor].shape for tensor in op.inputs]
            if op.kind is OpKind.MOVE and any(each is not None and len(each) == 1 for each in shapes[:1]):
                return True
            alike = {tensor for tensor in op.inputs if index.tensors[tensor].shape == shape} - seen
            seen |= alike
            waiting += alike
    return False


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
