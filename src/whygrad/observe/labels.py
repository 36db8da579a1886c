"""Whose gradient is this tensor? A label goes with every gradient through clipping, scaling, casts and sums.

Labels are carried forward as ops run, one dictionary look-up an input, so that an accumulator of any length costs
nothing extra and the answer is there when the optimizer is called.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from whygrad.graph.event import GradientChange
from whygrad.graph.node import Action, OpKind, VariableId
from whygrad.observe.calls import REARRANGED, UNCHANGED, LabelCalls
from whygrad.observe.fact import Call, Function, OpFact
from whygrad.observe.joined import join, split
from whygrad.observe.label import Asked, Label, asked_now, merge
from whygrad.observe.place import Place, span

_MOST_SUMS = 1024
_SCALING = (Action.MULTIPLY, Action.DIVIDE, Action.DIVIDE_NO_NAN)
_UNEVEN = (OpKind.ELEMENTWISE, OpKind.SMOOTH, OpKind.SQRT, OpKind.POWER, OpKind.SIGN)


class Labels:
    """Labels of tensors and of the variables that gradients were written into."""

    def __init__(self) -> None:
        self.tensors: dict[int, Label] = {}
        self.variables: dict[int, Label] = {}
        self.constants: dict[int, float] = {}  # single numbers that came in from Python
        self.calls = LabelCalls(self.tensors)
        self._norms: set[int] = set()  # numbers computed from whole gradients
        self._noise: set[int] = set()
        self._clips: dict[Place, Place] = {}  # -> where the gradient was asked for
        self._clips_used: set[Place] = set()  # None, of gradients that were not clipped, is none of the clips
        self._applied: set[Place] = set()  # where gradients were asked for that were applied unclipped
        self._by_position: dict[tuple[Place, Place], frozenset[int]] = {}  # (asked, summed) -> variables
        self._sums: dict[tuple[Place, Place, Place], tuple[bool, bool]] = {}  # -> noised, nested

    def passes_by(self, op: OpFact) -> bool:
        """Whether an op outside of traced functions has to do with no gradient, as most of a forward pass."""
        if op.variable is not None or op.kind is OpKind.NOISE or self._noise or self._norms:
            return False
        return self.tensors.keys().isdisjoint(op.inputs)

    def follow(self, op: OpFact, function: Function | None = None) -> None:
        """Carry the labels of an op's inputs on to its outputs; `function` is the one that is being traced."""
        tensors = self.tensors
        if function is not None:
            for number in op.inputs:
                if number not in tensors:  # calls inside a traced function show no op; whoever uses them asks
                    self.calls.enter(number, function)
        found = [(number, tensors[number]) for number in op.inputs if number in tensors]
        for _, label in found:
            if (label.clipped != op.place and not _measures(op)) or op.kind is OpKind.WRITE:
                self._clips_used.add(label.clipped)
        variable, kind = op.variable, op.kind
        if found and (op.action is Action.JOIN or op.action is Action.SPLIT):
            self._move(op, found[0][1])
        elif variable is not None and kind is OpKind.WRITE:
            self._write(op, variable, found)
        elif variable in self.variables and kind is OpKind.READ:
            self._give(op, replace(self.variables[variable], slot=variable, added=False))
        elif found:
            self._through(op, found)
        elif kind is OpKind.NOISE or not self._noise.isdisjoint(op.inputs):
            self._noise.update(fact.id for fact in op.outputs)
        elif not self._norms.isdisjoint(op.inputs):
            self._norms.update(fact.id for fact in op.outputs)

    def called(self, call: Call, outputs: tuple[int, ...], now: int = 0) -> None:
        """Compiled functions were called and gave these tensors."""
        for function in call.functions:
            self.calls.arrived(function, call.arguments)
            fresh: dict[Asked, Asked] = {}  # the request of the trace -> that of this call
            for label, number in zip(self.calls.outputs(function, call.arguments), outputs, strict=False):
                if label is not None:
                    self.tensors[number] = asked_now(label, function.key, now, fresh)
                    self._clips_used.add(label.clipped)

    def of(self, tensor: int, function: Function | None = None) -> Label | None:
        """The label of one gradient; None where it is not known, or several are joined in the tensor."""
        label = self.tensors.get(tensor)
        if label is None and function is not None and self.tensors:
            label = self.calls.enter(tensor, function)
        return None if label is None or label.parts else label

    def taken(self, label: Label) -> None:
        """A gradient is applied."""
        self._clips_used.add(label.clipped)
        if label.clipped is None and label.asked is not None:
            self._applied.add(label.asked.place)

    def held_by(self, variable: int) -> Label | None:
        """The label of the gradient that was written into a variable."""
        label = self.variables.get(variable)
        return None if label is None or label.parts else replace(label, slot=variable)

    def forget(self, tensors: set[int]) -> None:
        for held in (self.tensors, self.constants):
            for number in held.keys() & tensors:
                del held[number]
        self._norms -= tensors
        self._noise -= tensors

    def events(self) -> Iterator[GradientChange]:
        for (asked, clipped, summed), (noised, nested) in self._sums.items():
            yield GradientChange(
                asked=span(asked), clipped=span(clipped), summed=span(summed), noised=noised, nested=nested
            )
        for (asked, summed), variables in self._by_position.items():
            numbers = tuple(map(VariableId, sorted(variables)))
            yield GradientChange(asked=span(asked), summed=span(summed), added_by_position=numbers)
        for clipped, asked in self._clips.items():
            if clipped not in self._clips_used and asked in self._applied:
                yield GradientChange(asked=span(asked), clipped=span(clipped), unused=True)

    def _clipped(self, label: Label, place: Place) -> Label:
        if label.asked is not None and len(self._clips) < _MOST_SUMS:
            self._clips.setdefault(place, label.asked.place)
        return replace(label, clipped=place)

    def _give(self, op: OpFact, label: Label) -> None:
        for fact in op.outputs:
            self.tensors[fact.id] = label

    def _move(self, op: OpFact, whole: Label) -> None:
        """Gradients joined, or taken apart again."""
        if op.action is Action.SPLIT:
            self.tensors.update(split(op, whole) if whole.parts else ())
        elif (label := join(op, self.tensors)) is not None:
            self._give(op, label)

    def _write(self, op: OpFact, variable: int, found: list[tuple[int, Label]]) -> None:
        adds = op.action is Action.INCREMENT
        before = self.variables.get(variable) if adds else None
        if found and variable in found[0][1].variables:  # a step along its own gradient: what it holds is no gradient
            self.variables.pop(variable, None)
            self.taken(found[0][1])
        elif found:
            given = found[0][1]
            aged = given.aged or given.weighed  # its own value, in parts: it fades
            given = replace(given, weighed=False, aged=aged, rows=0)
            label = given if before is None else merge(before, given, op.place)
            if adds and label.clipped and label.functions != {None}:  # a traced sum runs once for each micro-batch
                label = replace(label, clipped_then_summed=(label.clipped, op.place))
            self.variables[variable] = label
            self._note(label)
        elif not adds:
            self.variables.pop(variable, None)

    def _through(self, op: OpFact, found: list[tuple[int, Label]]) -> None:
        first, kind, action = found[0][1], op.kind, op.action
        if action in UNCHANGED:
            for fact, number in zip(op.outputs, op.inputs, strict=False):
                if number in self.tensors:
                    self.tensors[fact.id] = self.tensors[number]
        elif action is Action.SCATTER:  # rows of a sparse gradient put in their places
            self._give(op, replace(first, rows=0))
        elif kind is OpKind.REDUCE:
            self._norms.update(fact.id for fact in op.outputs)
        elif action is Action.ADD or action is Action.SUBTRACT:
            self._give(op, self._sum(op, [label for _, label in found]))
        elif action in _SCALING:
            self._give(op, self._scaled(op, found))
        elif kind is OpKind.CLIP:
            self._give(op, self._clipped(first, op.place))
        elif action in REARRANGED:
            if not first.parts:  # where the pieces are now is not followed
                self._give(op, replace(first, rows=0))
        elif kind is OpKind.CAST or action is Action.NEGATE:
            self._give(op, first)
        elif kind is OpKind.SELECT:
            if len({label.variables for _, label in found}) == 1:
                self._give(op, first)
        elif kind in _UNEVEN:
            self._give(op, replace(first, scale=None, aged=True))

    def _sum(self, op: OpFact, labels: list[Label]) -> Label:
        total = labels[0]
        for label in labels[1:]:
            if label.rows and total.rows and label.rows != total.rows and label.asked is not None:
                key = (label.asked.place, op.place)
                self._by_position[key] = self._by_position.get(key, frozenset()) | label.variables
            total = merge(total, label, op.place)
        noised = total.noised or not self._noise.isdisjoint(op.inputs)
        total = replace(total, added=True, aged=total.aged or op.action is Action.SUBTRACT, noised=noised)
        self._note(total)
        return total

    def _note(self, label: Label) -> None:
        """Remember a sum of gradients that were clipped before, or of which one holds another."""
        nested = label.is_nested
        if not nested and label.clipped_then_summed is None:
            return
        asked = label.asked
        if asked is None or len(self._sums) >= _MOST_SUMS:
            return
        clipped, summed = label.clipped_then_summed or (None, label.summed)
        key = (asked.place, clipped, summed)
        before = self._sums.get(key, (False, False))
        self._sums[key] = (before[0] or label.noised, before[1] or nested)

    def _scaled(self, op: OpFact, found: list[tuple[int, Label]]) -> Label:
        number, label = found[0]
        others = [each for each in op.inputs if each != number]
        if not self._norms.isdisjoint(others):
            return self._clipped(label, op.place)
        factor = self.constants.get(others[0]) if len(others) == 1 else None
        divides = op.action is not Action.MULTIPLY
        aged = label.aged or label.added or (factor or 0.0) < 0
        label = replace(label, aged=aged, weighed=label.weighed or label.slot != 0)
        if factor is None or label.scale is None or (divides and factor == 0):
            return replace(label, scale=None)
        return replace(label, scale=label.scale / factor if divides else label.scale * factor, divided=op.place)


def _measures(op: OpFact) -> bool:
    """Whether an op makes one number of whole gradients, or their squares for that: it uses none of them."""
    squares = op.action is Action.SQUARE or (op.action is Action.MULTIPLY and len(set(op.inputs)) == 1)
    return squares or (op.kind is OpKind.REDUCE and all(fact.shape == () for fact in op.outputs))
