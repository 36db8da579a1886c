"""Steps along a gradient that were computed and that nothing uses: `w = w - rate * gradient`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from whygrad.graph.event import VariableStep
from whygrad.graph.node import Action, VariableId
from whygrad.observe.assignments import variable_read
from whygrad.observe.fact import Maker, OpFact
from whygrad.observe.labels import Labels
from whygrad.observe.place import Place, span

_KEPT = 4096  # results that are waited for, and places with a variable each

Key = tuple[int, Place]  # the variable, and where the step is computed


class UnusedSteps:
    """Results that no op took yet, by variable and place."""

    def __init__(self, labels: Labels) -> None:
        self.labels = labels
        self._waiting: dict[int, Key] = {}  # results that nothing has used yet
        self._made: dict[Key, int] = {}
        self._used: set[Key] = set()
        self._traced: set[Key] = set()

    def look(self, op: OpFact, maker: Maker) -> None:
        """Called after each op while gradients are about."""
        if self._waiting:
            self.use(op.inputs)
        if op.action is not Action.SUBTRACT and op.action is not Action.ADD:
            return
        if len(op.inputs) != 2 or not op.outputs:
            return
        labels = self.labels.tensors
        for number, other in (op.inputs, op.inputs[::-1]):
            label = labels.get(number)
            if label is None or label.slot or len(label.variables) != 1 or other in labels:
                continue
            [variable] = label.variables
            if variable_read(other, maker) == variable:
                self._wait(op, (variable, op.place))

    @property
    def waits(self) -> bool:
        """Whether there are results that nothing has used yet."""
        return bool(self._waiting)

    def use(self, tensors: Sequence[int]) -> None:
        """These tensors go into an op, or leave the framework."""
        for number in tensors:
            key = self._waiting.pop(number, None)
            if key is not None:
                self._used.add(key)

    def events(self) -> Iterator[VariableStep]:
        unused = set(self._waiting.values()) - self._used
        for key, count in self._made.items():
            if key in unused:
                yield VariableStep(
                    variable=VariableId(key[0]),
                    where=span(key[1]),
                    seen=count,
                    unused=True,
                    compiled=key in self._traced,
                )

    def _wait(self, op: OpFact, key: Key) -> None:
        if key not in self._made and len(self._made) >= _KEPT:
            return
        self._made[key] = self._made.get(key, 0) + 1
        if op.function is not None:
            self._traced.add(key)
        if key not in self._used and len(self._waiting) < _KEPT:
            self._waiting[op.outputs[0].id] = key
