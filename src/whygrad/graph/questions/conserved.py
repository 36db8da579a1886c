"""Differences in which nothing is left of a value, and totals that are the same whatever goes in.

A value is written as a sum of products, as far as the ops before it allow: so nothing is left of `m` in
`(m + e) - m`. Added up along some axes, what is the same all along them comes out of the sum: so nothing is left of `x`
in the sum of `x - mean(x)`, nor in that of a normalised layer. What is no arithmetic, or what the tape did not record,
is taken as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Final, NamedTuple

from whygrad.graph.node import Action, Op, OpKind, TensorId
from whygrad.graph.questions.query import Index
from whygrad.graph.questions.zeros import TOTALS, Zeroed, only_through
from whygrad.graph.recording import Request, Source

DEEP: Final = 24  # ops in a row; what is further back is taken as it is
LONG: Final = 32  # products in a sum
NOTHING: Final = 1e-9  # a coefficient that has cancelled out
_MINUS: Final = (Action.SUBTRACT, Action.SQUARED_DIFFERENCE)
_Shape = tuple[int | None, ...]
_Axes = frozenset[int]  # counted from the end: the last is -1


@dataclass(frozen=True, slots=True)
class _Mean:
    """Along the axes in question, of what differs along them."""

    of: _Product


_Factor = TensorId | _Mean
_Product = frozenset[tuple[_Factor, Fraction]]  # factors and their powers
_ONE: Final[_Product] = frozenset()
_COUNT: Final = _Mean(_ONE)  # stands for how many there are along the axes


class _Sum(NamedTuple):
    products: dict[_Product, float]
    made_of: frozenset[TensorId]  # also what has cancelled out


def dropped_out(request: Request, index: Index) -> list[Zeroed]:
    """Sources that enter the target through one difference or total alone, and of which nothing is left in it."""
    found, seen = list[Zeroed](), set[int]()
    for op, result in (*_differences(request, index), *_added_up(request, index)):
        dead = tuple(each for each in _dropped(op, result, request, index) if id(each) not in seen)
        seen.update(map(id, dead))
        found += [Zeroed(op, dead)] if dead else []
    return found


def _differences(request: Request, index: Index) -> Iterator[tuple[Op, _Sum]]:
    sums = _Sums(index, request, frozenset())
    for op in request.graph.ops:
        if op.action in _MINUS and len(op.inputs) == 2 and request.tape in op.tapes:
            yield op, sums.difference(op)


def _added_up(request: Request, index: Index) -> Iterator[tuple[Op, _Sum]]:
    """Totals, along all axes in question that a total of totals adds up."""
    totals = [op for op in request.graph.ops if op.action in TOTALS and op.inputs and request.tape in op.tapes]
    known = {axes: _Sums(index, request, axes) for axes in [*(_axes_of(index, op) for op in totals), frozenset({-1})]}
    for op in totals:
        of = _first_of(index, op)
        along = _lost(index.tensors[of].shape, index.tensors[op.outputs[0]].shape)
        yield from ((op, known[axes].mean(of)) for axes in known if axes and axes <= along)


def _first_of(index: Index, op: Op) -> TensorId:
    """What a total of totals adds up in the end."""
    for _ in range(DEEP):
        makers = index.makers.get(op.inputs[0], ())
        if len(makers) != 1 or makers[0].action not in TOTALS or not makers[0].inputs:
            break
        op = makers[0]
    return op.inputs[0]


def _dropped(op: Op, result: _Sum, request: Request, index: Index) -> tuple[Source, ...]:
    left = {tensor for product in result.products for tensor in _tensors(product)}
    if result.made_of <= left:
        return ()
    behind = index.open_behind(sorted(left), request.tape)
    return tuple(each for each in only_through(op, request, index) if behind.isdisjoint(index.starts(each)))


class _Sums:
    """Values as sums of products, to be added up along these axes."""

    def __init__(self, index: Index, request: Request, axes: _Axes) -> None:
        self._index, self._tape, self._axes = index, request.tape, axes
        self._known: dict[TensorId, _Sum] = {}

    def mean(self, of: TensorId, depth: int = 0) -> _Sum:
        whole = self._of(of, depth)
        return _Sum(_added((self._averaged(product), by) for product, by in whole.products.items()), whole.made_of)

    def difference(self, op: Op) -> _Sum:
        """What is left of two values when one is taken from the other."""
        first, second = (self._of(tensor, 0) for tensor in op.inputs)
        return _plus(first, _scaled(second, -1.0))

    def _of(self, tensor: TensorId, depth: int) -> _Sum:
        if tensor not in self._known:
            makers = self._index.makers.get(tensor, ())
            op = makers[0] if len(makers) == 1 and depth < DEEP and self._tape in makers[0].tapes else None
            found = None if op is None else self._by(op, tensor, depth + 1)
            if found is None or len(found.products) > LONG:
                same = tensor if op is None else self._first_read(op, tensor)
                found = _Sum({_power(same, 1): 1.0}, frozenset({same}))
            self._known[tensor] = found
        return self._known[tensor]

    def _by(self, op: Op, tensor: TensorId, depth: int) -> _Sum | None:
        """The result of an op; None where it is to be taken as it is."""
        if op.action in TOTALS:
            return self._kept_total(op, tensor, depth)
        if op.kind is OpKind.SQRT or op.action is Action.SQUARE:
            power = Fraction(1, 2) if op.kind is OpKind.SQRT else Fraction(2)
            sign = -1 if op.action is Action.RECIPROCAL_ROOT else 1
            return _to_the(self._of(self._unbound(op.inputs[0]), depth), sign * power)
        if op.action is Action.RESHAPE:
            [before, *others] = self._index.makers.get(op.inputs[0], ()) or (op,)
            is_total = not others and before.action in TOTALS and self._tape in before.tapes
            return self._kept_total(before, tensor, depth) if is_total else None
        if op.action is Action.IDENTITY:
            return self._of(op.inputs[0], depth)
        if op.action is Action.NEGATE:
            return _scaled(self._of(op.inputs[0], depth), -1.0)
        if len(op.inputs) != 2:
            return None
        first = self._of(op.inputs[0], depth)
        match op.action:
            case Action.ADD:
                return _plus(first, self._of(op.inputs[1], depth))
            case Action.SUBTRACT:
                return _plus(first, _scaled(self._of(op.inputs[1], depth), -1.0))
            case Action.MULTIPLY:
                return _times(first, self._of(op.inputs[1], depth))
            case Action.DIVIDE:
                inverse = _to_the(self._of(self._unbound(op.inputs[1]), depth), Fraction(-1))
                return None if inverse is None else _times(first, inverse)
        return None

    def _first_read(self, op: Op, tensor: TensorId) -> TensorId:
        """The first of those that read what this one reads: a variable has the same value until it is written."""
        if op.kind is not OpKind.READ or op.inputs or op.variable is None:
            return tensor
        written = max((each.id for each in self._index.written.get(op.variable, ()) if each.id < op.id), default=0)
        same = (each for each in self._index.reads[op.variable] if each.id > written and self._tape in each.tapes)
        return next(each.outputs[0] for each in same if not each.inputs)

    def _kept_total(self, op: Op, shown: TensorId, depth: int) -> _Sum | None:
        """A total along these axes, where it lies beside what it is of: its axes are kept, or it is a single number."""
        before, after = self._index.tensors[op.inputs[0]].shape, self._index.tensors[shown].shape
        beside = before is not None and after is not None and (not after or len(before) == len(after))
        fits = self._axes == _lost(before, after) == _axes_of(self._index, op)
        if not (beside and fits and self._axes):
            return None
        mean = self.mean(op.inputs[0], depth)
        return mean if op.action is Action.MEAN else _times(mean, _Sum({_power(_COUNT, 1): 1.0}, frozenset()))

    def _unbound(self, tensor: TensorId) -> TensorId:
        """Without what keeps it from zero."""
        makers = self._index.makers.get(tensor, ())
        bounds = [op for op in makers if op.kind is OpKind.CLIP and op.inputs and not self._differs(tensor)]
        return bounds[0].inputs[0] if len(bounds) == len(makers) == 1 else tensor

    def _averaged(self, product: _Product) -> _Product:
        differing = frozenset((factor, power) for factor, power in product if self._differs(factor))
        if not differing:
            return product
        share = self._axes == {-1} and self._is_softmax(differing)  # along its axis, its mean is one by their number
        return _joined(product - differing, _power(_COUNT, -1) if share else _power(_Mean(differing), 1))

    def _is_softmax(self, product: _Product) -> bool:
        factors = [factor for factor, power in product if power == 1 and not isinstance(factor, _Mean)]
        makers = self._index.makers.get(factors[0], ()) if len(factors) == len(product) == 1 else ()
        return any(op.action is Action.SOFTMAX for op in makers)

    def _differs(self, factor: _Factor) -> bool:
        if isinstance(factor, _Mean):
            return False
        shape = self._index.tensors[factor].shape
        return shape is None or any(-axis <= len(shape) and shape[axis] != 1 for axis in self._axes)


def _axes_of(index: Index, op: Op) -> _Axes:
    """Along which a total adds up; none where the shapes leave that open."""
    return _lost(index.tensors[op.inputs[0]].shape, index.tensors[op.outputs[0]].shape)


def _lost(before: _Shape | None, after: _Shape | None) -> _Axes:
    if before is None or after is None:
        return frozenset()
    long = [axis for axis in range(-len(before), 0) if before[axis] != 1]
    if not after:
        return frozenset(long)
    if len(before) == len(after):
        return frozenset(axis for axis in long if after[axis] == 1)
    gone = len(before) - len(after)
    fits = [
        axes
        for axes in combinations(range(-len(before), 0), gone)
        if tuple(size for axis, size in zip(range(-len(before), 0), before, strict=True) if axis not in axes) == after
    ]
    return frozenset(fits[0]) & frozenset(long) if len(fits) == 1 else frozenset()


def _power(factor: _Factor, power: int) -> _Product:
    return frozenset({(factor, Fraction(power))})


def _joined(first: _Product, second: _Product) -> _Product:
    powers = dict(first)
    for factor, power in second:
        powers[factor] = powers.get(factor, Fraction(0)) + power
    return frozenset((factor, power) for factor, power in powers.items() if power)


def _added(products: Iterable[tuple[_Product, float]]) -> dict[_Product, float]:
    found: dict[_Product, float] = {}
    for product, by in products:
        found[product] = found.get(product, 0.0) + by
    return {product: by for product, by in found.items() if abs(by) > NOTHING}


def _plus(first: _Sum, second: _Sum) -> _Sum:
    products = _added([*first.products.items(), *second.products.items()])
    return _Sum(products, first.made_of | second.made_of)


def _scaled(of: _Sum, by: float) -> _Sum:
    return _Sum({product: by * size for product, size in of.products.items()}, of.made_of)


def _times(first: _Sum, second: _Sum) -> _Sum | None:
    if len(first.products) * len(second.products) > LONG:
        return None
    pairs = [(a, b) for a in first.products.items() for b in second.products.items()]
    products = _added((_joined(a, b), size * by) for (a, size), (b, by) in pairs)
    return _Sum(products, first.made_of | second.made_of)


def _to_the(of: _Sum, power: Fraction) -> _Sum | None:
    """A single product to some power; a root of what cannot be negative only."""
    if power == 2:
        return _times(of, of)
    if len(of.products) != 1:
        return None
    [(product, size)] = of.products.items()
    unsure = [each for factor, each in product if not _is_positive(factor)]
    if power != -1 and (size < 0 or len(unsure) > 1 or any(each != 1 for each in unsure)):
        return None
    return _Sum({frozenset((factor, each * power) for factor, each in product): size ** float(power)}, of.made_of)


def _is_positive(factor: _Factor) -> bool:
    return isinstance(factor, _Mean) and all(power % 2 == 0 for _, power in factor.of)


def _tensors(product: _Product) -> Iterator[TensorId]:
    for factor, _ in product:
        if isinstance(factor, _Mean):
            yield from _tensors(factor.of)
        else:
            yield factor
