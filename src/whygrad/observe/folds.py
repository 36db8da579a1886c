"""All folds over the stream of ops, in the order in which they look at an op."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from whygrad.graph.event import GradientChange, VariableStep
from whygrad.observe.assignments import Assignments
from whygrad.observe.bound_names import BoundNames
from whygrad.observe.fact import Call, Function, Maker, OpFact
from whygrad.observe.labels import Labels
from whygrad.observe.loss import CarriedTargets
from whygrad.observe.pairs import Applied
from whygrad.observe.row_writes import RowWrites
from whygrad.observe.steps import UnusedSteps


class Folds:
    def __init__(self, variable_of: Callable[[Any], int | None]) -> None:
        self.labels = Labels()
        self.assignments = Assignments()
        self.applied = Applied()
        self.carried = CarriedTargets()
        self.steps = UnusedSteps(self.labels)
        self.rows = RowWrites()
        self.names = BoundNames(variable_of)

    def follow(self, op: OpFact, maker: Maker, function: Function | None = None) -> None:
        """An op ran while gradients are about."""
        if function is None and not self.steps.waits and self.labels.passes_by(op):
            return
        self.labels.follow(op, function)
        if self.labels.tensors:
            self.steps.look(op, maker)

    def passes_by(self, inputs: Sequence[int], functions: Iterable[int]) -> bool:
        """Whether a call of functions that were called before has nothing to do with any gradient."""
        if self.steps.waits or not self.labels.tensors.keys().isdisjoint(inputs):
            return False
        return all(map(self.labels.calls.gives_none, functions))

    def called(self, op: OpFact, call: Call) -> None:
        """Compiled functions were called while gradients are about."""
        self.labels.called(call, tuple(fact.id for fact in op.outputs), op.sequence)
        self.steps.use(op.inputs)

    def events(self) -> Iterator[GradientChange | VariableStep]:
        yield from self.labels.events()
        yield from self.rows.events()
        yield from self.steps.events()
        yield from self.names.events()
