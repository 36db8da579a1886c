"""What user code put into variables: what sets accumulators back, and values of another origin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container

from whygrad.graph.node import Action, OpKind
from whygrad.observe.fact import Maker, OpFact
from whygrad.observe.place import Place

_MAX_OPS = 256


class Assignments:
    """By variable: the last assignment, and how often another value was put in place of the old."""

    def __init__(self) -> None:
        self.last: dict[int, OpFact] = {}
        self.resets: Counter[int] = Counter()  # of those that ran at once
        self.traced_resets: Counter[int] = Counter()  # in compiled code: how often these run is not counted

    def note(self, op: OpFact, maker: Maker) -> None:
        variable = op.variable
        assert variable is not None
        self.last[variable] = op
        if not _adds_to_itself(op, maker):
            (self.resets if op.function is None else self.traced_resets)[variable] += 1

    def overwritten(self, variable: int, since: int, maker: Maker, gradients: Container[int]) -> Place:
        """Where it got a value of another origin; None if it was not written since, or by what may come from itself.

        Weight decay, clipping and putting a saved copy back all come from the variable. An array from Python may.
        """
        write = self.last.get(variable)
        if write is None or write.sequence <= since or len(write.inputs) < 2:
            return None
        variables, waiting, seen = {variable}, [write.inputs[1]], set[int]()
        while waiting:
            number = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            made = maker(number)
            if made is None or len(seen) > _MAX_OPS or number in gradients:
                return None  # from Python, from long ago, or a gradient
            if made.kind is OpKind.READ and made.inputs:
                if made.variable is None or made.variable in variables:
                    return None
                variables.add(made.variable)
                if made.variable in self.last:
                    waiting.append(self.last[made.variable].inputs[1])
            elif made.kind is not OpKind.CONSTANT:
                waiting += made.inputs
        return write.place


def variable_read(tensor: int, maker: Maker) -> int | None:
    """The variable that a tensor is the plain value of."""
    made = _origin(tensor, maker)
    return made.variable if made is not None and made.kind is OpKind.READ and len(made.inputs) == 1 else None


def _adds_to_itself(op: OpFact, maker: Maker) -> bool:
    """Whether what is assigned is the variable's own value plus something: Keras adds that way."""
    made = _origin(op.inputs[1], maker) if len(op.inputs) > 1 else None
    if made is None or made.action not in (Action.ADD, Action.SUBTRACT):
        return False
    return any(variable_read(number, maker) == op.variable for number in made.inputs)


def _origin(tensor: int, maker: Maker) -> OpFact | None:
    """The op that computed a value, other than by passing it on."""
    made = maker(tensor)
    while made is not None and (made.action is Action.IDENTITY or made.kind is OpKind.CAST) and made.inputs:
        made = maker(made.inputs[0])
    return made
