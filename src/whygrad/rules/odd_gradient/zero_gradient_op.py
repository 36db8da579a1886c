"""WG301 zero-gradient-op."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from whygrad.diagnostics import Fix, Label, Severity, Steps, Word
from whygrad.fixes.losses import turned_round
from whygrad.fixes.straight_through import lone_softmax, rounded
from whygrad.graph import Action, Op, OpId, OpKind, Outcome, Recording, Request, Source
from whygrad.graph.questions.cancellation import DIFFERENCES
from whygrad.graph.questions.conserved import dropped_out
from whygrad.graph.questions.misfit import misfits
from whygrad.graph.questions.progress import is_trained_by, last_loss
from whygrad.graph.questions.query import Index, Reason, index_of
from whygrad.graph.questions.zeros import (
    Suspects,
    Zeroed,
    ZeroFactor,
    is_constant,
    stuck_products,
    zeroed_by_construction,
    zeroed_by_factor,
    zeroed_by_lone_softmax,
    zeroed_where_flat,
)
from whygrad.graph.series import RECTIFIED, SATURATING
from whygrad.rules.baked_state import baked_states
from whygrad.rules.keras.aliased_network import shared_unawares
from whygrad.rules.no_gradient.claim import claim
from whygrad.rules.no_gradient.missing import missing_of
from whygrad.rules.odd_gradient.over_steps import (
    Followed,
    all_zero,
    always,
    asked,
    died_at,
    followed,
    silenced,
    silent_layers,
    spoiled,
    zero_elsewhere,
)
from whygrad.rules.odd_gradient.series import find_dead_units, find_saturated_units
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, names_of, steps_of, text_of
from whygrad.source.operand import factor_text


@rule("WG301", "zero-gradient-op", severity=Severity.WARNING, since="0.1.0")
def zero_gradient_op(recording: Recording) -> Iterator[Finding]:
    """Detects gradients that are zero, by construction or in every step that was looked at.

    ## Why it matters
    A sign, a saturated clip, a mask that is all zeros, the sum of a softmax, the length of a unit vector, or the score
    of a sample that was not stopped have a gradient that is there but zero, if only up to rounding. It is not `None`,
    so not even the Keras warning appears, and the variable never moves.

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
    Where no op can be named that likely made the zero, it is a note, and is reported after ten steps; a warning where
    all gradients of a step are zero. A factor that is zero is looked for from the second step on; in compiled steps, in
    one that was kept.
    """
    unfit = [found.objective for found in misfits(recording)] if recording.objectives else []
    bad = spoiled(recording)
    for request in (each for each in recording.requests if each.where not in bad):
        if not any(is_trained_by(recording, objective, request) for objective in unfit):  # else a note there
            yield from _zeros(recording, request)
    yield from claim(
        recording,
        lambda missing: missing.cut.reason is Reason.ZERO,
        because=lambda cut: _sure(cut.op),
        label=lambda cut: "the gradient is zero from here on",
        help=lambda cut: _HELPS.get(cut.op.kind, _STOPPED),
        fixes=lambda missing: _through(missing.cut.op, missing.request),
    )


def _zeros(recording: Recording, request: Request) -> Iterator[Finding]:
    """Each question is asked only of the sources that the ones before it have not explained."""
    index, group = index_of(request.graph), followed(recording, request)
    explained = set[int]()
    for finding, sources in _constructed(recording, request, index):
        explained.update(map(id, sources))
        yield finding
    layer = silenced(group)
    explained |= {id(each.source) for each in (layer[1] if layer else ())}
    likely = _likely(request, index, explained)
    sure = [zeroed for zeroed in likely if is_constant(index, zeroed.op)]
    factors = [] if sure else zeroed_by_factor(request, index)
    for factor in factors:
        if explained.isdisjoint(map(id, factor.sources)):
            explained.update(map(id, factor.sources))
            if not (_is_baked(recording, factor) or _is_missing(recording, index, factor)):
                yield _by_factor(recording, request, index, factor)
    for zeroed in () if sure or factors else zeroed_where_flat(request, index):
        if explained.isdisjoint(map(id, zeroed.sources)):
            explained.update(map(id, zeroed.sources))
            yield _where_flat(recording, request, zeroed)
    for zeroed in likely:
        if explained.isdisjoint(map(id, zeroed.sources)):
            explained.update(map(id, zeroed.sources))
            certain = zeroed in sure
            if not certain and _is_of_one_network(recording, zeroed):
                continue
            found = _finding(recording, request, zeroed, certain=certain)
            bias = not certain and _is_bias(recording, request, zeroed)
            yield replace(found, severity=Severity.NOTE) if bias else found
    for op, both in _stuck(request, index, [each for each in group if id(each.source) not in explained]):
        explained |= {id(each.source) for each in both}
        yield _both_zero(request, op, both)
    rest = [each for each in zero_elsewhere(group) if id(each.source) not in explained]
    if rest and not request.zeros_accepted:
        yield _at_every_step(request, rest)
    trained = {pair.variable for update in recording.updates for pair in update.pairs}
    if all_zero(group) and not explained and any(each.source.variable in trained for each in group):
        yield _nothing_learned(request, group)
    since = died_at(request, group)
    moved = any(each.source.variable in trained for each in group)
    if since is not None and not explained and moved and not _has_silent_layers(recording):
        yield _nothing_more_learned(request, group, since)


def _has_silent_layers(recording: Recording) -> bool:
    """Whether a layer is reported through which no gradient passes: that is the cause."""
    kinds = ((RECTIFIED, find_dead_units), (SATURATING, find_saturated_units))
    found = (each for kind, check in kinds for each in silent_layers(recording, kind, check, "", ""))
    return any(each.severity is not Severity.NOTE for each in found)


def _constructed(recording: Recording, request: Request, index: Index) -> Iterator[tuple[Finding, tuple[Source, ...]]]:
    """What is zero whatever the values are."""
    for zeroed in (*zeroed_by_construction(request, index), *zeroed_by_lone_softmax(request, index)):
        yield _finding(recording, request, zeroed, certain=True), zeroed.sources
    for zeroed in dropped_out(request, index):
        bias = zeroed.op.action in DIFFERENCES and _is_bias(recording, request, zeroed)
        found = _dropped_out(recording, request, zeroed)
        yield replace(found, severity=Severity.NOTE) if bias else found, zeroed.sources


def _likely(request: Request, index: Index, explained: set[int]) -> list[Zeroed]:
    """Zeros that were seen in more than one step, by the op that likely makes them: of several, the one that is
    certain to, else the one that explains the most of them, else the first."""
    steps = request.ran if request.compiled else request.seen
    if any(source.outcome is Outcome.NONFINITE for source in request.sources):  # a bound gives zero for what is NaN
        return []
    zeros = [s for s in request.sources if s.outcome is Outcome.ZERO and id(s) not in explained and steps > 1]
    if not zeros:
        return []
    suspects = Suspects(request, index)
    ops = {id(source): suspects.of(source) for source in zeros}
    explains = Counter(op.id for each in ops.values() for op in each)
    found: dict[OpId, tuple[Op, list[Source]]] = {}
    for source in zeros:
        op = max(ops[id(source)], key=lambda op: (is_constant(index, op), explains[op.id]), default=None)
        if op is not None:
            found.setdefault(op.id, (op, []))[1].append(source)
    return [Zeroed(op, tuple(sources)) for op, sources in found.values()]


def _is_of_one_network(recording: Recording, zeroed: Zeroed) -> bool:
    """Whether two results that cancel out are one network's, where two networks were meant: that is the cause."""
    variables = {source.variable for source in zeroed.sources}
    return zeroed.op.action in DIFFERENCES and variables <= shared_unawares(recording)


def _is_bias(recording: Recording, request: Request, zeroed: Zeroed) -> bool:
    """Whether what drops out of a difference is a part of layers that learn: the bias of two outputs of one layer."""

    def layer(source: Source) -> str:
        return "" if source.variable is None else recording.variables[source.variable].name.rpartition("/")[0]

    learning = {layer(source) for source in request.sources if source.outcome is Outcome.PRESENT} - {""}
    return zeroed.op.action in DIFFERENCES and all(layer(source) in learning for source in zeroed.sources)


def _stuck(request: Request, index: Index, group: list[Followed]) -> Iterator[tuple[Op, tuple[Followed, Followed]]]:
    blank = {id(each.source): each for each in group if each.is_zero and each.numbers.blank}
    if len(blank) < 2 or len(next(iter(blank.values())).numbers.norms) < 2:
        return
    for op, first, second in stuck_products(request, index, [each.source for each in blank.values()]):
        yield op, (blank[id(first)], blank[id(second)])


def _finding(recording: Recording, request: Request, zeroed: Zeroed, *, certain: bool) -> Finding:
    op, names = zeroed.op, names_of(recording, request, zeroed.sources)
    forward = next((each for each in request.graph.ops if each.id == op.derivative_of), None)
    where = op.where if forward is None else forward.where
    if forward is not None:
        why, help = f"the second derivative of `{forward.name}` is zero", _CURVED
    else:
        why, help = _sure(op) if certain else _likely_by(op), _HELPS.get(op.kind, _STOPPED)
    return Finding(
        message=f"the gradient of {listing(names)} is {'' if op.kind is OpKind.SOFTMAX else 'exactly '}zero: {why}",
        primary=None if where is None else Label(where, "the gradient is zero from here on"),
        variables=names,
        related=() if request.where is None else (Label(request.where, "asked for here"),),
        help=help,
        steps=steps_of(recording, [request]),
        certain=certain,
        fixes=partial(_through, op, request) if forward is None else tuple,
    )


def _through(op: Op, request: Request) -> Iterator[Fix]:
    """A step or a bound that the gradient may go straight through; a softmax over an axis that has choices."""
    if op.kind in (OpKind.SIGN, OpKind.ROUND, OpKind.CLIP):
        yield from rounded(op.where)
    if op.action is Action.SOFTMAX or op.kind is OpKind.SOFTMAX:
        shape = next((request.graph.tensors[each].shape for each in op.inputs if each in request.graph.tensors), None)
        yield from lone_softmax(op.where, axis=len(shape) - 2 if shape is not None and len(shape) > 2 else None)


def _is_baked(recording: Recording, factor: ZeroFactor) -> bool:
    """Whether the factor is a Python number that a traced function keeps as it was at first: that is the cause."""
    shown = factor_text(factor.op.where, factor.position)
    return any(state.name == shown for state in baked_states(recording))


def _is_missing(recording: Recording, index: Index, factor: ZeroFactor) -> bool:
    """Whether the factor is zeros in place of a gradient that is missing: why it is missing is the cause."""
    made = index.origin(factor.op.inputs[factor.position])
    places = {each.request.where for each in missing_of(recording).unconnected if each.request.zeros_accepted}
    return made is not None and made in places


def _by_factor(recording: Recording, request: Request, index: Index, factor: ZeroFactor) -> Finding:
    op, names = factor.op, names_of(recording, request, factor.sources)
    made = index.origin(op.inputs[factor.position])
    shown = factor_text(op.where, factor.position)
    what = f"`{shown}`" if shown else "a factor of the loss" if made in (None, op.where) else text_of(made)
    related = () if made in (None, op.where) else (Label(made, "zeros only, made here"),)
    return Finding(
        message=f"the gradient of {listing(names)} is exactly zero: {what} is zero in all of its elements, and "
        "whatever depends on them is multiplied by it",
        primary=None if op.where is None else Label(op.where, "multiplied by zeros"),
        variables=names,
        related=(*related, *asked(request)),
        help=f"find out why {what} is zero: {_WHY_ZERO}",
        steps=steps_of(recording, [request]),
        fixes=partial(turned_round, made),
    )


def _where_flat(recording: Recording, request: Request, zeroed: Zeroed) -> Finding:
    names, where = names_of(recording, request, zeroed.sources), zeroed.op.where
    return Finding(
        message=f"the gradient of {listing(names)} is exactly zero: {text_of(where)} gives nothing but zeros, whatever goes "
        "in a little more or less",
        primary=None if where is None else Label(where, "nothing but zeros: it is flat there"),
        variables=names,
        related=asked(request),
        help=f"start where some of it is positive, or use what is not flat: `{Word.SOFTPLUS}`, a leaky ReLU, a term that "
        "measures the distance",
        steps=steps_of(recording, [request]),
    )


def _dropped_out(recording: Recording, request: Request, zeroed: Zeroed) -> Finding:
    names, where = names_of(recording, request, zeroed.sources), zeroed.op.where
    if zeroed.op.action in DIFFERENCES:
        why, advice = f"all that depends on it cancels out in {text_of(where)}", _STOPPED
    else:
        why = f"what {text_of(where)} adds up was normalised before, so that it is the same whatever goes in"
        advice = "use single entries of what was normalised, or the values before"
    return Finding(
        message=f"the gradient of {listing(names)} is zero up to rounding: {why}",
        primary=None if where is None else Label(where, "always the same: its gradient is zero"),
        variables=names,
        related=asked(request),
        help=advice,
        steps=steps_of(recording, [request]),
    )


def _sure(op: Op) -> str:
    if op.kind is OpKind.SOFTMAX:
        return "a softmax over a single unit is 1, whatever goes in"
    if op.action in (Action.SUBTRACT, Action.SQUARED_DIFFERENCE):
        return "a single element does not differ from its own mean"
    return f"the gradient of `{op.name}` is zero"


def _likely_by(op: Op) -> str:
    if op.action in DIFFERENCES:
        return f"likely all that depends on it cancels out in {text_of(op.where)}"
    return f"likely made zero by {text_of(op.where)}"


def _both_zero(request: Request, op: Op, factors: tuple[Followed, Followed]) -> Finding:
    names = tuple(each.name for each in factors)
    return Finding(
        message=f"{listing(names)} are both zero and multiply each other: their gradients are exactly zero for good",
        primary=None if op.where is None else Label(op.where, "the gradient of each factor is the other"),
        variables=names,
        related=asked(request),
        help="start one of the two at random, and only the other at zero",
        steps=always(request),
    )


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


def _nothing_learned(request: Request, group: list[Followed]) -> Finding:
    names = tuple(each.name for each in group)
    return Finding(
        message=f"the gradient of {listing(names)} is exactly zero at every step: nothing is learned",
        primary=next(iter(asked(request)), None),
        variables=names,
        help=f"look for a factor of the loss that is zero: {_WHY_ZERO}; or for an output that does not move with its input",
        steps=always(request),
        certain=True,
    )


def _nothing_more_learned(request: Request, group: list[Followed], since: int) -> Finding:
    names = tuple(each.name for each in group)
    return Finding(
        message=f"the gradient of {listing(names)} is exactly zero since step {since + 1}, while the loss stays at "
        f"{last_loss(request):.4g}: likely nothing that it is made of can move any more",
        primary=next(iter(asked(request)), None),
        variables=names,
        help=f"look for what is flat now in the loss: a `relu`, a bound or a margin that nothing passes any more; a smaller "
        f"learning rate, `{Word.SOFTPLUS}` or a leaky ReLU keep away from there",
        steps=Steps(request.ran - since, request.ran),
        severity=Severity.WARNING,
        certain=False,
    )


_WHY_ZERO: Final = "a mask that no element passes; a weight of the loss, of the samples or of a class that is zero"
_STOPPED: Final = (
    f"keep one side fixed: `{Word.STOP_GRADIENT}(...)` of the sample whose score is taken, or of the old policy; "
    "or use another expression, in which it does not cancel out"
)
_CURVED: Final = "a derivative of the derivative needs an activation with curvature: `tanh`, `softplus`, `swish`, `sin`"
_HELPS: Final = {
    OpKind.CUSTOM: "let the gradient that you wrote return what the variable is to learn from, not zeros",
    OpKind.SIGN: f"use a smooth step (`{Word.TANH}(k * x)`), or pass the gradient straight through",
    OpKind.CLIP: f"constrain with a smooth map (`{Word.SIGMOID}`, `{Word.SOFTPLUS}`), or clip the variable after the "
    "update",
    OpKind.SOFTMAX: "a softmax sums to one whatever its input: use its single entries, or the logits",
    OpKind.ROUND: f"pass the gradient straight through: `x + {Word.STOP_GRADIENT}({Word.ROUND}(x) - x)`",
}
