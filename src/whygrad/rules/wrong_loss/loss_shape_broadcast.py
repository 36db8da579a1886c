"""WG703 loss-shape-broadcast."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Label, Severity, Steps, Word
from whygrad.fixes.losses import same_shape
from whygrad.graph import Action, Op, OpKind, Recording, Request, TensorId
from whygrad.graph.questions.query import Index, index_of, recorded_starts
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import steps_of
from whygrad.source import SourceSpan

Shape = tuple[int | None, ...] | None


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
    Pairwise losses that really want all pairs are recognised where the axes are spelled out (`x[:, None]`). Weights of
    examples are known where there are as many as the mean before them has examples.
    """
    for request in recording.requests:
        index = index_of(request.graph)
        reached = index.open_behind(request.targets, request.tape)
        for op in request.graph.ops:
            found = _mixed(index, request, op, reached)
            if found is not None and op.where is not None:
                yield _finding(op.where, op, *found, steps_of(recording, [request]))
                break
        for op in request.graph.ops:
            weights = _weighs_a_mean(index, request, op, reached)
            if weights is not None and op.where is not None:
                yield _too_late(op.where, weights, steps_of(recording, [request]))
                break


_COMPARING = (Action.SUBTRACT, Action.SQUARED_DIFFERENCE)
_ADDING = (Action.ADD, Action.SUBTRACT)
_WEIGHING = (Action.MULTIPLY, Action.DIVIDE, Action.DIVIDE_NO_NAN)  # a sum of all pairs has the mean of the sum of each
_RELATING = (OpKind.CONTRACT, OpKind.SOFTMAX)  # what relates the pairs to each other needs them all


def _too_late(where: SourceSpan, weights: str, steps: Steps) -> Finding:
    return Finding(
        message=f"weights of shape {weights} likely meet a loss that is one number already: they weigh no example",
        primary=Label(where, "one number times the weights of all examples"),
        help='keep the losses of the examples until they are weighed: `reduction="none"`, or no mean before',
        steps=steps,
        certain=False,
    )


def _weighs_a_mean(index: Index, request: Request, op: Op, reached: set[TensorId]) -> str | None:
    """The shape of weights, one for each example, that multiply the mean over these very examples."""
    if op.action is not Action.MULTIPLY or request.tape not in op.tapes or len(op.inputs) != 2:
        return None
    loss, weights = sorted(op.inputs, key=lambda tensor: len(index.tensors[tensor].shape or ()))
    shape, examples = index.tensors[weights].shape, _examples_in(index, loss)
    if index.tensors[loss].shape != () or not shape or not examples or examples[:1] != shape[:1] or shape[0] == 1:
        return None
    trained = op.outputs[0] in reached and _is_behind(index, loss, OpKind.CONTRACT)
    if not trained or _is_behind(index, weights, OpKind.READ) or not _is_only_reduced(index, op, request):
        return None
    return str(shape).replace("None", "N")


def _examples_in(index: Index, loss: TensorId) -> Shape:
    """The shape of what a single number is the mean or sum of, scalings passed over."""
    for _ in range(6):
        makers = index.makers.get(loss, ())
        if len(makers) != 1 or not makers[0].inputs:
            return None
        op = makers[0]
        shapes = [index.tensors[tensor].shape for tensor in op.inputs]
        if op.kind is OpKind.REDUCE:
            return shapes[0]
        if op.kind not in (OpKind.ELEMENTWISE, OpKind.DIVIDE, OpKind.MOVE) or shapes[0] != ():
            return None
        loss = op.inputs[0]
    return None


def _finding(where: SourceSpan, op: Op, left: str, right: str, result: str, steps: Steps) -> Finding:
    what, verb = "values of the examples", "adds up" if op.action is Action.ADD else "multiplies"
    if op.action in _COMPARING:
        what, verb = "prediction and target", "compares"
    column, row = sorted((left, right), key=lambda shape: -shape.count(", "))
    return Finding(
        message=f"{what} likely broadcast against each other: {left} and {right} give {result}",
        primary=Label(where, f"{left} against {right} {verb} every pair"),
        help=f"give both the same shape: `{Word.SQUEEZE}(..., -1)` of what is {column}, or `...[:, None]` of what is {row}",
        steps=steps,
        certain=False,
        fixes=partial(same_shape, where, column_first=left.endswith(", 1)")),
    )


def _mixed(index: Index, request: Request, op: Op, reached: set[TensorId]) -> tuple[str, str, str] | None:
    """(N, 1) against (N,), or the like, in a difference or product whose one side is trained and whose other side is data.

    Or in what makes a target for it: there, a network's answer and data.
    """
    if len(op.inputs) != 2 or not op.outputs:
        return None
    trains = request.tape in op.tapes and op.outputs[0] in reached
    row, column = sorted(op.inputs, key=lambda tensor: len(index.tensors[tensor].shape or ()))
    if not _is_row_and_column(index.tensors[row].shape, index.tensors[column].shape):
        return None
    if trains and op.action is Action.ADD and _meets_single_targets(index, request, op):
        return _shapes(index, op, row, column)
    if op.action not in (*(_COMPARING if trains else _ADDING), *_WEIGHING):
        return None
    if not trains and op.outputs[0] not in index.behind(request.targets):
        return None
    predicted = [tensor for tensor in op.inputs if _is_behind(index, tensor, OpKind.READ)]
    if not predicted or not all(_is_behind(index, tensor, OpKind.CONTRACT) for tensor in predicted):
        return None  # nothing is trained, or a bare parameter, which may well be compared with every value
    if op.action in _WEIGHING or not trains:
        meant = _is_spelled_out(index, column)
    else:  # of two predictions, one that is not trained here is the target of the other
        meant = len(predicted) > 1 and (_is_spelled_out(index, column) or _all_trained(index, request, op.inputs))
    if meant or not _is_only_reduced(index, op, request):
        return None
    return _shapes(index, op, row, column)


def _meets_single_targets(index: Index, request: Request, op: Op) -> bool:
    """Whether the table of all pairs that an op makes is compared with data that have one number for each example."""
    table = index.tensors[op.outputs[0]].shape
    return any(
        compared.action in _COMPARING
        and request.tape in compared.tapes
        and any(tensor in ahead and index.tensors[tensor].shape == table for tensor in compared.inputs)
        and any(_is_single(index, tensor, table) for tensor in compared.inputs)
        for ahead in (index.ahead([op.outputs[0]]) | set(op.outputs),)
        for compared in request.graph.ops
    )


def _is_single(index: Index, tensor: TensorId, table: Shape) -> bool:
    shape = index.tensors[tensor].shape
    return table is not None and shape in (table[:1], (*table[:1], 1)) and not _is_behind(index, tensor, OpKind.READ)


def _shapes(index: Index, op: Op, row: TensorId, column: TensorId) -> tuple[str, str, str]:
    """What meets and what comes of it, in words."""
    size, wide = (index.tensors[row].shape or (None,)), [*(index.tensors[column].shape or ())]
    wide[-len(size)] = size[0]
    left, right, result = (
        str(shape).replace("None", "N") for shape in (*(index.tensors[t].shape for t in op.inputs), tuple(wide))
    )
    return left, right, result


def _is_row_and_column(row: Shape, column: Shape) -> bool:
    """(N,) and (N, 1), or one number for each example with more axes; both lengths may be unknown: the batch."""
    if not row or column is None or len(row) >= len(column) or {*row[1:], *column[1:]} != {1}:
        return False
    return column[0] == row[0] and (row[0] is None or row[0] >= 2)


def _all_trained(index: Index, request: Request, tensors: tuple[TensorId, ...]) -> bool:
    """Whether a gradient of the request goes through each of these to one of its sources."""
    starts = [start for source in request.sources for start in recorded_starts(index, source, request.tape)]
    return index.open_ahead(starts, request.tape).issuperset(tensors)


def _is_spelled_out(index: Index, column: TensorId) -> bool:
    """Whether user code made a row into the column, before what it did to its elements: all pairs are meant then.

    Not where a network's own column is in it, too: there, the row was made into a column to fit that.
    """
    shape, waiting, seen, spelled = index.tensors[column].shape, [column], {column}, False
    while waiting:
        tensor = waiting.pop()
        makers = index.makers.get(tensor, ())
        shapes = [index.tensors[each].shape for op in makers if op.kind is OpKind.MOVE for each in op.inputs[:1]]
        if any(each is not None and len(each) == 1 for each in shapes):
            spelled = True
            continue
        alike = {each for op in makers for each in op.inputs if index.tensors[each].shape == shape}
        if not alike and _is_behind(index, tensor, OpKind.READ):
            return False
        waiting += alike - seen
        seen |= alike
    return spelled


def _is_behind(index: Index, tensor: TensorId, kind: OpKind) -> bool:
    """Whether an op of this kind takes part in making a tensor."""
    return any(op.kind is kind for each in index.behind([tensor]) for op in index.makers.get(each, ()))


def _is_only_reduced(index: Index, op: Op, request: Request) -> bool:
    """Between the difference and the loss there is only per-element arithmetic and a reduction."""
    ahead = index.ahead(op.outputs) & index.behind(request.targets)
    kinds = {user.kind for tensor in ahead for user, _ in index.users.get(tensor, ()) if set(user.outputs) & ahead}
    return OpKind.REDUCE in kinds and kinds.isdisjoint(_RELATING)
