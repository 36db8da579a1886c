"""Where a gradient is zero: by what an op is, or likely by what it did to the values it was given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from whygrad.graph.node import Action, Flow, Op, OpId, OpKind, TensorId
from whygrad.graph.questions.cancellation import Cancellation
from whygrad.graph.questions.query import Index, Reason, cut_groups, index_of
from whygrad.graph.recording import Outcome, Request, Source

_THERE: Final = (Outcome.PRESENT, Outcome.ZERO)
_FLAT: Final = (OpKind.CLIP, OpKind.SELECT, OpKind.SIGN, OpKind.ROUND)  # zero over whole ranges of values
TOTALS: Final = (Action.SUM, Action.MEAN)


@dataclass(frozen=True, slots=True)
class Zeroed:
    """An op that makes the gradients of some sources zero."""

    op: Op
    sources: tuple[Source, ...]


def zeroed_by_construction(request: Request, index: Index) -> list[Zeroed]:
    """Sources whose every way goes through an op with a derivative that is zero whatever the values."""
    if not any(Flow.ZERO in op.flows for op in request.graph.ops):
        return []
    alive = index.open_behind(request.targets, request.tape, zeros=False)
    dead = [s for s in request.sources if s.outcome in _THERE and alive.isdisjoint(index.starts(s))]
    groups = cut_groups(index, request, dead, zeros=False)
    return [Zeroed(g.cut.op, g.sources) for g in groups if g.cut.reason is Reason.ZERO]


def is_flattened(request: Request, source: Source) -> bool:
    """Whether a source is used with an op whose second derivative is zero, and is what the target is made of."""
    index = index_of(request.graph)
    flat = {each.op.derivative_of for each in zeroed_by_construction(request, index)} - {None}
    given = [tensor for op in request.graph.ops if op.id in flat for tensor in op.outputs]
    return bool(given) and not index.ahead(given).isdisjoint(index.ahead(index.starts(source)))


@dataclass(frozen=True, slots=True)
class ZeroFactor(Zeroed):
    """A product whose other factor was nothing but zeros."""

    position: int  # of that factor


def zeroed_by_factor(request: Request, index: Index) -> list[ZeroFactor]:
    """Sources whose gradient was zero, and whose every way goes through products with a factor that was all zeros."""
    products = [
        op for op in request.graph.ops if op.blank and request.tape in op.tapes and op.action is not Action.DIVIDE
    ]
    zeros = [source for source in request.sources if source.outcome is Outcome.ZERO] if products else []
    for op in reversed(products):
        dead = _cut_off(request, index, zeros, _met_by_zeros(op))
        if dead:
            return [ZeroFactor(op, dead, op.blank[0])]
    return []


def zeroed_where_flat(request: Request, index: Index) -> list[Zeroed]:
    """Sources whose gradient was zero, and whose every way goes through bounds that are flat there, or meets zeros.

    The first bound is named: what it gives is zero, and so is what that is multiplied or divided by.
    """
    ops = [op for op in request.graph.ops if request.tape in op.tapes]
    flat = [op for op in ops if op.flat]
    zeros = [source for source in request.sources if source.outcome is Outcome.ZERO] if flat else []
    if not zeros:
        return []
    cut = {(op.id, at) for op in flat for at in range(len(op.inputs))}
    dead = _cut_off(request, index, zeros, cut.union(*map(_met_by_zeros, ops)))
    return [Zeroed(flat[0], dead)] if dead else []


def _met_by_zeros(op: Op) -> set[tuple[OpId, int]]:
    """The inputs of a product or ratio whose gradient is zero, for another input is."""
    return {(op.id, at) for at in range(len(op.inputs)) if set(op.blank) - {at}}


def _cut_off(request: Request, index: Index, sources: list[Source], cut: set[tuple[OpId, int]]) -> tuple[Source, ...]:
    """Those that no gradient comes to without these inputs of ops."""
    alive = index.open_behind(request.targets, request.tape, without=cut)
    return tuple(source for source in sources if alive.isdisjoint(index.starts(source)))


def only_through(op: Op, request: Request, index: Index) -> tuple[Source, ...]:
    """The sources that have a gradient and enter the target through the result of this op alone."""
    around = index.open_behind(request.targets, request.tape, avoiding=set(op.outputs))
    through = index.open_behind(op.inputs, request.tape)
    return tuple(
        s
        for s in request.sources
        if s.outcome in _THERE and (starts := set(index.starts(s))) & through and not starts & around
    )


def zeroed_by_lone_softmax(request: Request, index: Index) -> list[Zeroed]:
    """A softmax over one element is one, whatever goes in; where it is rounded, a trace of a gradient is left."""
    lone = [op for op in request.graph.ops if op.kind is OpKind.SOFTMAX and request.tape in op.tapes]
    found = [Zeroed(op, only_through(op, request, index)) for op in lone if is_constant(index, op)]
    return [each for each in found if each.sources]


class Suspects:
    """The ops that likely make a zero that was seen, and that every path of its source goes through."""

    def __init__(self, request: Request, index: Index) -> None:
        self._request, self._index = request, index
        self._differences = Cancellation(index)
        self._around: dict[frozenset[TensorId], set[TensorId]] = {}

    def of(self, source: Source) -> list[Op]:
        """In the order they ran: a clip or the like; or the difference or ratio in which all that depends on the source
        drops out, as the mean does in `sample - mean`."""
        starts = set(self._index.starts(source))
        ops = _path(self._index, self._request, starts)
        found = tuple(self._differences.among(ops, self._index.ahead(starts) | starts))
        if found and self._carry_all(starts, found):
            return [found[0]]
        return [op for op in ops if (group := self._zeroing(op, ops)) and self._carry_all(starts, group)]

    def _zeroing(self, op: Op, ops: list[Op]) -> tuple[Op, ...]:
        if op.kind is OpKind.CUSTOM:
            return tuple(each for each in ops if each.kind is OpKind.CUSTOM and each.custom == op.custom)
        return (op,) if self._may_zero(op) else ()

    def _may_zero(self, op: Op) -> bool:
        """Not where another source has a gradient that can only have come through the op."""
        if _drops_imaginary(self._index, op):
            return True
        if op.kind not in _FLAT and not is_constant(self._index, op):
            return False
        if op.kind is OpKind.SELECT and self._is_by_chance(op):
            return False
        present = (source for source in self._request.sources if source.outcome is Outcome.PRESENT)
        return not any(self._carry_all(self._index.starts(source), (op,)) for source in present)

    def _is_by_chance(self, op: Op) -> bool:
        """A choice that noise makes, as a dropout does, lets some elements through in every step."""
        chosen = self._index.behind(op.inputs[:1])
        return any(maker.kind is OpKind.NOISE for tensor in chosen for maker in self._index.makers.get(tensor, ()))

    def _carry_all(self, starts: Iterable[TensorId], ops: tuple[Op, ...]) -> bool:
        """Whether every way from the starts to the target goes through one of these ops."""
        through = frozenset(tensor for op in ops for tensor in op.outputs)
        if through not in self._around:
            avoiding = set(through)
            self._around[through] = self._index.open_behind(
                self._request.targets, self._request.tape, avoiding=avoiding
            )
        return self._around[through].isdisjoint(starts)


def _path(index: Index, request: Request, starts: set[TensorId]) -> list[Op]:
    """The ops that carry a gradient from the target to the starts."""
    path = index.open_ahead(starts, request.tape) & index.open_behind(request.targets, request.tape)
    return [op for op in request.graph.ops if any(t in path for t in op.outputs) and any(t in path for t in op.inputs)]


def _drops_imaginary(index: Index, op: Op) -> bool:
    """A cast from complex to real numbers, or their real part: nothing that moves the imaginary part alone counts."""
    if op.action not in (Action.CONVERT, Action.REAL_PART) or not op.inputs or not op.outputs:
        return False
    before, after = index.tensors.get(op.inputs[0]), index.tensors.get(op.outputs[0])
    return before is not None and before.dtype.startswith("complex") and after is not None and after.dtype[:4] != "comp"


def is_constant(index: Index, op: Op) -> bool:
    """A softmax over one unit is one, and what a single element differs from its own mean is zero."""
    if op.kind is OpKind.SOFTMAX:
        shape = index.tensors[op.outputs[0]].shape or (None,)
        return shape[-1] == 1
    if op.action not in (Action.SUBTRACT, Action.SQUARED_DIFFERENCE) or len(op.inputs) != 2:
        return False
    return _is_mean_of_one(index, op.inputs[1], op.inputs[0])


def _is_mean_of_one(index: Index, tensor: TensorId, own: TensorId) -> bool:
    for maker in index.makers.get(tensor, ()):
        if maker.kind is OpKind.STOP:
            return _is_mean_of_one(index, maker.inputs[0], own)
        before, after = index.tensors[own].shape or (None,), index.tensors[maker.outputs[0]].shape or ()
        if maker.action is Action.MEAN and maker.inputs[0] == own:
            return len(after) == len(before) and after[-1] == before[-1] == 1
    return False


def stuck_products(request: Request, index: Index, blank: list[Source]) -> Iterator[tuple[Op, Source, Source]]:
    """Pairs of sources that are all zeros and multiply each other: the gradient of each is the other."""
    ahead = [(source, index.ahead(set(index.starts(source)))) for source in blank]
    paired: set[int] = set()
    for op in request.graph.ops:
        if op.kind is not OpKind.CONTRACT and op.action is not Action.MULTIPLY:
            continue
        into = [[source for source, reached in ahead if tensor in reached] for tensor in op.inputs[:2]]
        if [len(side) for side in into] != [1, 1]:
            continue
        first, second = into[0][0], into[1][0]
        if first is not second and not paired & {id(first), id(second)}:
            paired |= {id(first), id(second)}
            yield op, first, second


def is_filled_in(request: Request, source: Source) -> bool:
    """Whether zeros stand for a gradient that does not come, because the caller asked for them or gets them anyway."""
    return (request.zeros_accepted or request.zeros_given) and not is_reached(request, source)


def is_reached(request: Request, source: Source) -> bool:
    """Whether a way of the graph carries a gradient from the targets to a source."""
    index = index_of(request.graph)
    return not index.open_behind(request.targets, request.tape).isdisjoint(index.starts(source))
