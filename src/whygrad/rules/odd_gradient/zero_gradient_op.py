"""WG301 zero-gradient-op."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Flow, Op, OpId, OpKind, Outcome, Recording, Request, Source, TensorId
from whygrad.graph.cancellation import DIFFERENCES, Cancellation
from whygrad.graph.query import Cut, Index, Reason, cut_groups, index_of
from whygrad.rules.odd_gradient.over_steps import Followed, always, asked, followed, silenced, zero_elsewhere
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, names_of, steps_of, text_of


@rule("WG301", "zero-gradient-op", severity=Severity.WARNING, since="0.1.0")
def zero_gradient_op(recording: Recording) -> Iterator[Finding]:
    """Detects gradients that are exactly zero, by construction or in every step that was looked at.

    ## Why it matters
    A sign, a saturated clip, the sum of a softmax, or the score of a sample that was not stopped have a gradient
    that is there but zero. It is not `None`, so not even the Keras warning appears, and the variable never moves.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable([0.5, -2.0], name="w")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(tf.sign(w) - 0.5))
    gradients = tape.gradient(loss, [w])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable([0.5, -2.0], name="w")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(tf.tanh(w) - 0.5))
    gradients = tape.gradient(loss, [w])
    ```

    ## Known limits
    Where no op can be named that likely made the zero, it is a note, and takes ten steps to be told.
    """
    for request in recording.requests:
        index = index_of(request.graph)
        zero, summed = _by_construction(request, index), _sums_of_softmax(request, index)
        for cut, sources in zero:
            yield _finding(recording, request, sources, cut.op, certain=True)
        for cut, sources in summed:
            yield _one_anyway(_finding(recording, request, sources, cut.op, certain=True))
        told = {id(source) for _, sources in (*zero, *summed) for source in sources}
        group = followed(recording, request)
        layer = silenced(group)
        told |= {id(each.source) for each in (layer[1] if layer else ())}
        steps = request.ran if request.compiled else request.seen
        suspects: dict[OpId, tuple[Op, list[Source]]] = {}
        zeros = [s for s in request.sources if s.outcome is Outcome.ZERO and id(s) not in told and steps > 1]
        differences = Cancellation(index) if zeros else None
        for source in zeros:
            op = _suspect(index, request, source, differences)
            if op is not None:
                told.add(id(source))
                suspects.setdefault(op.id, (op, []))[1].append(source)
        for op, several in suspects.values():
            yield _finding(recording, request, tuple(several), op, certain=_is_constant(index, op))
        for product in _products_of_zeros(request, index, [each for each in group if id(each.source) not in told]):
            told |= {id(each.source) for each in product.factors}
            yield _stuck(request, product)
        unexplained = [each for each in zero_elsewhere(group) if id(each.source) not in told]
        if unexplained and not request.zeros_accepted:
            yield _at_every_step(request, unexplained)


def _by_construction(request: Request, index: Index) -> list[tuple[Cut, tuple[Source, ...]]]:
    present = [s for s in request.sources if s.outcome in (Outcome.PRESENT, Outcome.ZERO)]
    if not any(Flow.ZERO in op.flows for op in request.graph.ops):
        return []
    alive = index.open_behind(request.targets, request.tape, zeros=False)
    dead = [s for s in present if not any(tensor in alive for tensor in index.starts(s))]
    groups = cut_groups(index, request, dead, zeros=False)
    return [(g.cut, g.sources) for g in groups if g.cut.reason is Reason.ZERO]


def _sums_of_softmax(request: Request, index: Index) -> list[tuple[Cut, tuple[Source, ...]]]:
    """A softmax of which only the sum enters the target: that is one, whatever goes in."""
    found = []
    for op in request.graph.ops:
        if op.name != "Softmax" or request.tape not in op.tapes or not _is_only_summed(index, request, op):
            continue
        around = index.open_behind(request.targets, request.tape, avoiding=set(op.outputs))
        through = index.open_behind(op.inputs, request.tape)
        dead = tuple(
            s
            for s in request.sources
            if s.outcome in (Outcome.PRESENT, Outcome.ZERO)
            and (starts := set(index.starts(s))) & through
            and not starts & around
        )
        if dead:
            last = [each for each in request.graph.ops if each.name in ("Sum", "Mean") and set(each.outputs) & around]
            found.append((Cut(last[-1] if last else op, 0, Reason.ZERO), dead))
    return found


def _is_only_summed(index: Index, request: Request, op: Op) -> bool:
    behind = index.behind(request.targets)
    todo, summed = list(op.outputs), False
    while todo:
        tensor = todo.pop()
        for user, position in index.users.get(tensor, ()):
            if not set(user.outputs) & behind or user.kind is OpKind.SHAPE:
                continue
            summed = summed or user.name in ("Sum", "Mean")
            if user.name not in _LINEAR or not _is_linear_in(index, user, position):
                return False
            todo.extend(user.outputs)
    return summed and all(index.tensors[target].shape == () for target in request.targets if target in index.tensors)


_LINEAR = ("Sum", "Mean", "Neg", "Identity", "Mul", "RealDiv", "AddV2", "Sub", "Reshape")


def _is_linear_in(index: Index, op: Op, position: int) -> bool:
    """Whether the other inputs are constants, and the one in question is neither a divisor nor its own factor."""
    if op.name == "RealDiv" and position > 0:
        return False
    others = [tensor for i, tensor in enumerate(op.inputs) if i != position]
    if op.name in ("Mul", "RealDiv") and op.inputs[position] in others:
        return False
    makers = [maker for each in others for maker in index.makers.get(each, ()) if each != op.inputs[position]]
    scalars = op.name in ("Sum", "Mean", "Reshape") or all(
        index.tensors[each].shape == () for each in others if each != op.inputs[position]
    )
    return scalars and all(maker.kind in (OpKind.CONSTANT, OpKind.SHAPE, OpKind.MOVE) for maker in makers)


def _path(index: Index, request: Request, starts: set[TensorId]) -> list[Op]:
    """The ops that carry a gradient from the target to the starts."""
    path = index.open_ahead(starts, request.tape) & index.open_behind(request.targets, request.tape)
    return [op for op in request.graph.ops if any(t in path for t in op.outputs) and any(t in path for t in op.inputs)]


def _suspect(index: Index, request: Request, source: Source, differences: Cancellation | None) -> Op | None:
    """The op that likely makes the zero, and that every path goes through.

    A difference or ratio in which all that depends on the source drops out, as the mean does in `sample - mean`; a clip
    or the like.
    """
    starts = set(index.starts(source))
    ops = _path(index, request, starts)
    found = () if differences is None else tuple(differences.among(ops, index.ahead(starts) | starts))
    if found and _carries_all(index, request, starts, found):
        return found[0]
    for op in ops:
        flat = op.kind in _FLAT or _is_constant(index, op)
        flat = flat or _drops_imaginary(index, op)
        if flat and _carries_all(index, request, starts, (op,)) and not _lets_others_through(index, request, op):
            return op
        if op.kind is OpKind.CUSTOM:
            alike = tuple(each for each in ops if each.kind is OpKind.CUSTOM and each.custom == op.custom)
            if _carries_all(index, request, starts, alike):
                return op
    return None


_FLAT = (OpKind.CLIP, OpKind.SELECT, OpKind.SIGN, OpKind.ROUND)


def _lets_others_through(index: Index, request: Request, op: Op) -> bool:
    """Whether another source has a gradient that can only have come through the op: it is not the op that makes zeros."""
    if _drops_imaginary(index, op):
        return False
    around = index.open_behind(request.targets, request.tape, avoiding=set(op.outputs))
    present = (source for source in request.sources if source.outcome is Outcome.PRESENT)
    return any(around.isdisjoint(index.starts(source)) for source in present)


def _drops_imaginary(index: Index, op: Op) -> bool:
    """A cast from complex to real numbers, or their real part: nothing that moves the imaginary part alone counts."""
    if op.name not in ("Cast", "Real") or not op.inputs or not op.outputs:
        return False
    before, after = index.tensors.get(op.inputs[0]), index.tensors.get(op.outputs[0])
    return before is not None and before.dtype.startswith("complex") and after is not None and after.dtype[:4] != "comp"


def _is_constant(index: Index, op: Op) -> bool:
    """A softmax over one unit is one, and what a single element differs from its own mean is zero."""
    if op.kind is OpKind.SOFTMAX:
        shape = index.tensors[op.outputs[0]].shape or (None,)
        return shape[-1] == 1
    if op.name not in ("Sub", "SquaredDifference") or len(op.inputs) != 2:
        return False
    own = op.inputs[0]
    return any(_is_mean_of_one(index, tensor, own) for tensor in op.inputs[1:])


def _is_mean_of_one(index: Index, tensor: TensorId, own: TensorId) -> bool:
    for maker in index.makers.get(tensor, ()):
        if maker.name == "StopGradient":
            return _is_mean_of_one(index, maker.inputs[0], own)
        before, after = index.tensors[own].shape or (None,), index.tensors[maker.outputs[0]].shape or ()
        if maker.name == "Mean" and maker.inputs[0] == own:
            return len(after) == len(before) and after[-1] == before[-1] == 1
    return False


def _carries_all(index: Index, request: Request, starts: set[TensorId], ops: tuple[Op, ...]) -> bool:
    """Whether every way from the starts to the target goes through one of these ops."""
    through = {tensor for op in ops for tensor in op.outputs}
    return starts.isdisjoint(index.open_behind(request.targets, request.tape, avoiding=through))


@dataclass(frozen=True, slots=True)
class _Product:
    op: Op
    factors: tuple[Followed, Followed]


def _products_of_zeros(request: Request, index: Index, group: list[Followed]) -> Iterator[_Product]:
    """Pairs of variables that are all zeros and multiply each other: the gradient of each is the other."""
    blank = [each for each in group if each.is_zero and each.numbers.blank]
    if len(blank) < 2 or len(blank[0].numbers.norms) < 2:
        return
    ahead = {id(each): index.ahead(set(index.starts(each.source))) for each in blank}
    paired: set[int] = set()
    for op in request.graph.ops:
        if op.kind is not OpKind.CONTRACT and op.name != "Mul":
            continue
        into = [{id(each) for each in blank if tensor in ahead[id(each)]} for tensor in op.inputs[:2]]
        if (
            len(into) == 2
            and len(into[0]) == len(into[1]) == 1
            and into[0] != into[1]
            and not paired & (into[0] | into[1])
        ):
            paired |= into[0] | into[1]
            first, second = (next(each for each in blank if id(each) in side) for side in into)
            yield _Product(op, (first, second))


def _stuck(request: Request, product: _Product) -> Finding:
    names = tuple(each.name for each in product.factors)
    return Finding(
        message=f"{listing(names)} are both zero and multiply each other: their gradients are exactly zero for good",
        primary=None
        if product.op.where is None
        else Label(product.op.where, "the gradient of each factor is the other"),
        variables=names,
        related=asked(request),
        help="start one of the two at random, and only the other at zero",
        steps=always(request),
    )


def _finding(recording: Recording, request: Request, sources: tuple[Source, ...], op: Op, *, certain: bool) -> Finding:
    names = names_of(recording, request, sources)
    forward = _forward(index_of(request.graph), op)
    where = op.where if forward is None else forward.where
    why = f"the gradient of `{op.name}` is zero" if certain else f"likely made zero by {text_of(where)}"
    if op.name in DIFFERENCES and not certain:
        why = f"likely all that depends on it cancels out in {text_of(where)}"
    if certain and op.name in _OF_ONE:
        why = _OF_ONE[op.name]
    if forward is not None:
        why = f"the second derivative of `{forward.name}` is zero"
    return Finding(
        message=f"the gradient of {listing(names)} is exactly zero: {why}",
        primary=None if where is None else Label(where, "the gradient is zero from here on"),
        variables=names,
        related=() if request.where is None else (Label(request.where, "asked for here"),),
        help=_CURVED if forward is not None else _HELPS.get(op.kind, _STOPPED),
        steps=steps_of(recording, [request]),
        certain=certain,
    )


def _forward(index: Index, op: Op) -> Op | None:
    """For an op that a tape ran on its way back, the op it is the gradient of."""
    makers = (maker for tensor in op.inputs for maker in index.makers.get(tensor, ()))
    return next((maker for maker in makers if op.name == f"{maker.name}Grad"), None)


_STOPPED = (
    "hold one side fixed: `tf.stop_gradient(...)` of the sample whose score is taken, or of the old policy; "
    "or use another expression, in which it does not cancel out"
)
_CURVED = "a derivative of the derivative needs an activation with curvature: `tanh`, `softplus`, `swish`, `sin`"


_OF_ONE = {
    "Softmax": "a softmax over a single unit is 1, whatever goes in",
    "Sub": "a single element does not differ from its own mean",
    "SquaredDifference": "a single element does not differ from its own mean",
}


def _at_every_step(request: Request, found: list[Followed]) -> Finding:
    names = tuple(each.name for each in found)
    return Finding(
        message=f"the gradient of {listing(names)} is exactly zero at every step",
        primary=next(iter(asked(request)), None),
        variables=names,
        help="look for what makes it zero: an output that is not used, a mask, a factor of zero in the loss",
        steps=always(request),
        severity=Severity.NOTE,  # a bias that cancels out, a variable that is at its best: it may be right
    )


def _one_anyway(finding: Finding) -> Finding:
    before = finding.message.split(": ", 1)[0]
    return replace(
        finding,
        message=f"{before}: only the sum of a softmax enters the loss, and that is one whatever goes in",
        help=_HELPS[OpKind.SOFTMAX],
    )


_HELPS = {
    OpKind.CUSTOM: "let the gradient that you wrote return what the variable is to learn from, not zeros",
    OpKind.SIGN: "use a smooth step (`tf.tanh(k * x)`), or pass the gradient straight through",
    OpKind.CLIP: "constrain with a smooth map (`tf.sigmoid`, `tf.nn.softplus`), or clip the variable after the update",
    OpKind.SOFTMAX: "a softmax sums to one whatever its input: use its single entries, or the logits",
    OpKind.ROUND: "pass the gradient straight through: `x + tf.stop_gradient(tf.round(x) - x)`",
}
