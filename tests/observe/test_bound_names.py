"""Names that held a variable and are bound to a value computed from it."""

from __future__ import annotations

import sys

from observe.stream import fact
from whygrad.graph import OpKind
from whygrad.graph.event import VariableStep
from whygrad.observe.bound_names import BoundNames

W = 7


class Variable:
    pass


def test_an_expression_of_several_ops_counts_once_a_step() -> None:
    names = BoundNames(lambda value: W if isinstance(value, Variable) else None)
    tensors = iter(range(100, 200, 2))

    def clipped(_: object) -> object:
        first = next(tensors)
        for inputs, output in (((1,), first), ((first,), first + 1)):
            names.look(fact(OpKind.SMOOTH, inputs=inputs, outputs=(output,)), sys._getframe(1))
        return None

    for _ in range(3):
        kernel: object = Variable()
        kernel = clipped(kernel)

    found = list(names.events())
    assert [(event.variable, event.seen, event.bound_to) for event in found] == [(W, 3, "kernel")]
    assert all(isinstance(event, VariableStep) for event in found)
