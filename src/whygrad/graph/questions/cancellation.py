"""Differences and ratios in which a value drops out: `new - old` of one network, `sample - mean` of one normal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from whygrad.graph.node import Action, Op, OpKind, TensorId
from whygrad.graph.questions.query import Index

_SIGNS: Final = {Action.ADD: 1, Action.SUBTRACT: -1, Action.SQUARED_DIFFERENCE: -1}  # of all terms but the first
DIFFERENCES: Final = (*_SIGNS, Action.DIVIDE)
_HANDING_ON: Final = (Action.IDENTITY, Action.RESHAPE)
_MOST_TERMS: Final = 32
_DRAWN: Final = (OpKind.NOISE, OpKind.SAMPLE)

Number = int  # equal for values that are computed in the same way from the same values
Term = tuple[Number, tuple[Number, ...]]  # a value, and what it is divided by

_CONSTANT: Final[Counter[Term]] = Counter({(-1, ()): 1})


class Cancellation:
    """What every value of a graph is a sum of. Attributes of ops are not known: ask only where a gradient is zero."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._numbers: dict[TensorId, Number] = {}
        self._holders: dict[Number, TensorId] = {}  # the first value of each number
        self._known: dict[object, Number] = {}
        self._terms: dict[TensorId, Counter[Term]] = {}
        self._negatives: dict[TensorId, tuple[Number, int]] = {}  # what a value is the negative of
        for op in sorted(index.ops, key=lambda op: op.kind is not OpKind.CONSTANT):  # which come last in a graph
            self._learn(op)

    def among(self, ops: Iterable[Op], dependent: set[TensorId]) -> Iterator[Op]:
        """Of ops that take something that depends on a source, those in whose results nothing is left of it."""
        for op in ops:
            terms = self._combined(op) if op.action in DIFFERENCES else None
            if terms is not None and not any(self._is_in(term, dependent) for term in terms):
                yield op

    def _is_in(self, term: Term, tensors: set[TensorId]) -> bool:
        number, divisors = term
        return any(self._holders.get(each) in tensors for each in (number, *divisors))

    def _learn(self, op: Op) -> None:
        inputs = tuple(self._number_of(tensor) for tensor in op.inputs)
        if self._is_handed_on(op):
            self._numbers[op.outputs[0]] = inputs[0]
            self._terms[op.outputs[0]] = self._terms_of(op.inputs[0])
            return
        for position, tensor in enumerate(op.outputs):
            self._number(tensor, None if op.kind in _DRAWN else self._key(op, inputs, position))
        terms = None if op.action is Action.SQUARED_DIFFERENCE else self._combined(op)
        if terms is not None and len(terms) <= _MOST_TERMS:
            self._terms[op.outputs[0]] = terms

    def _is_handed_on(self, op: Op) -> bool:
        """Unchanged but for its shape; the mean of single elements is each of them."""
        if op.action is Action.MEAN and op.inputs and op.outputs:
            shapes = [self._index.tensors[each].shape for each in (op.inputs[0], op.outputs[0])]
            return shapes[0] == shapes[1] and shapes[0] is not None and 1 in shapes[0]
        return op.action in _HANDING_ON and bool(op.inputs) and len(op.outputs) == 1

    def _key(self, op: Op, inputs: tuple[Number, ...], position: int) -> object | None:
        """The same for what is computed in the same way; constants are where they are small and of one place."""
        shape = self._index.tensors[op.outputs[position]].shape if op.outputs[position] in self._index.tensors else None
        if op.kind is OpKind.CONSTANT and (shape is None or len(shape) > 1):
            return None
        place = op.where if op.kind is OpKind.CONSTANT else None
        return (op.name, op.variable, inputs, position, shape, place)

    def _number_of(self, tensor: TensorId) -> Number:
        if tensor not in self._numbers:
            self._number(tensor, None)
        return self._numbers[tensor]

    def _number(self, tensor: TensorId, key: object | None) -> None:
        number = len(self._holders) if key is None else self._known.setdefault(key, len(self._holders))
        self._numbers[tensor] = number
        self._holders.setdefault(number, tensor)

    def _terms_of(self, tensor: TensorId) -> Counter[Term]:
        return self._terms.get(tensor) or Counter({(self._number_of(tensor), ()): 1})

    def _combined(self, op: Op) -> Counter[Term] | None:
        """The result as a sum; None: it is a value of its own. Of a squared difference, what is squared."""
        if not op.outputs or not op.inputs:
            return None
        if op.action in _SIGNS:
            return self._summed(op.inputs, _SIGNS[op.action])
        if op.action is Action.NEGATE:
            number, sign = self._signed(op.inputs[0])
            self._negatives[op.outputs[0]] = (number, -sign)
            return Counter({term: -count for term, count in self._terms_of(op.inputs[0]).items()})
        if op.action is Action.DIVIDE and len(op.inputs) == 2:
            return self._divided(*op.inputs)
        if op.action is Action.MULTIPLY and len(op.inputs) == 2:
            return self._multiplied(op)
        return None

    def _summed(self, tensors: Sequence[TensorId], sign: int) -> Counter[Term]:
        """The first and the others, these with a sign."""
        total: Counter[Term] = Counter()
        for position, tensor in enumerate(tensors):
            for term, count in self._terms_of(tensor).items():
                total[term] += count if position == 0 else sign * count
        return Counter({term: count for term, count in total.items() if count}) or _CONSTANT

    def _divided(self, above: TensorId, below: TensorId) -> Counter[Term]:
        by = self._number_of(below)
        if self._number_of(above) == by:
            return _CONSTANT
        return Counter(
            {(number, (*divisors, by)): count for (number, divisors), count in self._terms_of(above).items()}
        )

    def _multiplied(self, op: Op) -> Counter[Term]:
        """A product of two values, each with its sign, in either order."""
        (one, sign), (other, turned) = (self._signed(tensor) for tensor in op.inputs)
        number = self._known.setdefault(("product", *sorted((one, other))), self._numbers[op.outputs[0]])
        return Counter({(number, ()): sign * turned})

    def _signed(self, tensor: TensorId) -> tuple[Number, int]:
        """The value that a tensor is, or is the negative of."""
        return self._negatives.get(tensor) or (self._number_of(tensor), 1)
