"""What can be said of a loss when its gradient is asked for: its factor, whether it is a mean, what it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from whygrad.graph.node import Action, OpKind
from whygrad.observe.fact import Maker, OpFact
from whygrad.observe.place import Place

_LOOKED_AT = 64  # ops behind one target
_KEPT = 64  # targets of one tape
_DIVIDING = (Action.DIVIDE, Action.DIVIDE_NO_NAN)
_LINEAR = frozenset({Action.NEGATE, Action.IDENTITY, Action.ADD, Action.SUBTRACT})
_ADDING_UP = frozenset(
    {
        *(Action.ADD, Action.IDENTITY, Action.MULTIPLY, Action.DIVIDE),
        *(Action.NEGATE, Action.SUM, Action.MEAN, Action.JOIN),
    }
)


class LossForm(NamedTuple):
    scale: float = 1.0  # the constant factor in front of the loss
    mean: bool = False
    divided: Place = None  # where the factor stands


def loss_form(targets: Sequence[int], maker: Maker, constants: Mapping[int, float]) -> LossForm:
    """The constant factor in front of a loss, and whether behind it is a mean over the examples; of a sum of several
    terms that with the largest factor."""
    todo = [(number, LossForm()) for number in targets]  # what is looked at next, with the factors in front of it
    ends: list[LossForm] = []
    seen = 0
    while todo and seen < _LOOKED_AT:
        seen += 1
        number, form = todo.pop()
        op = maker(number)
        if op is None:
            continue
        if op.action is Action.MEAN or (op.action in _DIVIDING and _counts(op, maker, constants)):
            ends.append(form._replace(mean=True))
        elif op.action is Action.MULTIPLY or op.action is Action.DIVIDE:
            factors = [constants[each] for each in op.inputs if each in constants]
            if len(factors) == 1 and factors[0]:
                scale = form.scale * factors[0] if op.action is Action.MULTIPLY else form.scale / factors[0]
                form = LossForm(scale, divided=op.place)
            todo.extend((each, form) for each in op.inputs if each not in constants)
        elif op.action in _LINEAR or op.kind is OpKind.CAST:
            todo.extend((each, form) for each in op.inputs)
        else:
            ends.append(form)
    return max(ends, key=lambda form: (abs(form.scale), form.mean), default=LossForm())


def _counts(op: OpFact, maker: Maker, constants: Mapping[int, float]) -> bool:
    """A sum divided by a number that was computed, as losses with a mask do."""
    top = maker(op.inputs[0]) if len(op.inputs) == 2 else None
    return top is not None and top.action is Action.SUM and op.inputs[1] not in constants


class CarriedTargets:
    """Targets of one persistent tape that hold the earlier ones: a running sum, differentiated at each term."""

    def __init__(self) -> None:
        self._tape = 0
        self._earlier: dict[int, int] = {}  # target -> the number of the request

    def inside(self, tape: int, targets: Sequence[int], number: int, maker: Maker) -> frozenset[int]:
        """The earlier requests to the same tape whose targets were added up in these."""
        if tape != self._tape:
            self._tape, self._earlier = tape, {}
        found = frozenset(self._behind(targets, maker)) if self._earlier else frozenset()
        if len(self._earlier) < _KEPT:
            self._earlier.update(dict.fromkeys(targets, number))
        return found

    def _behind(self, targets: Sequence[int], maker: Maker) -> set[int]:
        waiting, found, seen = list(targets), set[int](), set(targets)
        while waiting and len(seen) < _LOOKED_AT:
            op = maker(waiting.pop())
            for tensor in op.inputs if op is not None and op.action in _ADDING_UP else ():
                if tensor in self._earlier:
                    found.add(self._earlier[tensor])
                if tensor not in seen:
                    seen.add(tensor)
                    waiting.append(tensor)
        return found
