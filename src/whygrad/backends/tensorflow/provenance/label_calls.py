"""Gradients that go through functions: returned by one, handed to one, or made in a branch or loop."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from whygrad.backends.tensorflow.log.function_graphs import FUNCTIONAL_OPS, functional_graphs
from whygrad.backends.tensorflow.log.op_table import kind_of
from whygrad.backends.tensorflow.provenance.label import Label, merge
from whygrad.graph import OpKind as K

SAME = frozenset(
    {"Identity", "Reshape", "Squeeze", "ExpandDims", "Neg", "Transpose", "EnsureShape", "StopGradient"}
    | {"CheckNumerics", "CheckNumericsV2", "PreventGradient", "Snapshot", "BroadcastTo"}
)
_PASSING = frozenset(
    {*(K.ELEMENTWISE, K.SMOOTH, K.CAST, K.SELECT, K.CLIP, K.DIVIDE, K.SIGN, K.SQRT, K.POWER)}
)  # element by element
_MAX_OPS = 2000  # looked at for one output


class LabelCalls:
    """What comes out of a call, told from the inside of the function; asked once for each graph."""

    def __init__(self, labels: dict[int, Label]) -> None:
        self.labels = labels
        self._returned: weakref.WeakKeyDictionary[Any, tuple[Label | None, ...]] = weakref.WeakKeyDictionary()
        self._asked: set[int] = set()
        self._waiting: weakref.WeakKeyDictionary[Any, list[tuple[Any, frozenset[int]]]] = weakref.WeakKeyDictionary()
        self._passed: weakref.WeakKeyDictionary[Any, dict[int, frozenset[int]]] = weakref.WeakKeyDictionary()

    def outputs(self, graph: Any, inputs: Sequence[int]) -> Iterator[Label | None]:
        """The label of each output of a function that is called with these tensors."""
        given = {position: self.labels[number] for position, number in enumerate(inputs) if number in self.labels}
        for index, label in enumerate(self._labels_returned(graph)):
            if label is None and given:
                arrived = [given[position] for position in sorted(self._inputs_of(graph, index)) if position in given]
                label = _together(arrived)
            yield label

    def await_arguments(self, gradient: Any, graph: Any, tell: Callable[[Label], None]) -> None:
        """A gradient that a traced function was given: its label is told when the function is called."""
        places = {tensor._id: position for position, tensor in enumerate(graph.inputs)}
        positions = frozenset(self._walk(gradient, graph, places))
        if positions:
            self._waiting.setdefault(graph, []).append((tell, positions))

    def arrived(self, graph: Any, inputs: Sequence[int]) -> None:
        """A function is called: those that wait for its arguments may know them now."""
        waiting = self._waiting.get(graph)
        if not waiting:
            return
        for tell, positions in waiting:
            given = [self.labels[inputs[p]] for p in sorted(positions) if p < len(inputs) and inputs[p] in self.labels]
            label = _together(given)
            if label is not None and not label.parts:
                tell(label)

    def of_traced(self, tensor: Any, graph: Any) -> Label | None:
        """The label of a tensor that a call, branch or loop inside a traced function gives, or that it captured."""
        op = tensor.op
        label: Label | None
        if op.type == "Placeholder":
            outside = next((outer for outer, inner in getattr(graph, "captures", ()) if inner is tensor), None)
            label = None if outside is None else self.labels.get(outside._id)
            if label is not None:
                self.labels[tensor._id] = label
            return label
        if op.type not in FUNCTIONAL_OPS:
            return None
        for item in op.inputs:
            if item._id not in self.labels and item.dtype.is_floating and item._id not in self._asked:
                self._asked.add(item._id)
                self.of_traced(item, graph)
        inputs = [item._id for item in op.inputs]
        if op.type in ("If", "StatelessIf", "Case", "StatelessCase"):
            inputs = inputs[1:]
        found = []
        for inner in functional_graphs(op, graph)[: 1 if "While" in op.type else None]:
            labels = list(self.outputs(inner, inputs)) if inner is not None else []
            if tensor.value_index < len(labels):
                found.append(labels[tensor.value_index])
        label = _together([each for each in found if each is not None])
        if label is not None:
            self.labels[tensor._id] = label
        return label

    def _labels_returned(self, graph: Any) -> tuple[Label | None, ...]:
        known = self._returned.get(graph)
        if known is None:
            known = tuple(self._made_inside(output, graph) for output in graph.outputs)
            self._returned[graph] = known
        return known

    def _made_inside(self, output: Any, graph: Any) -> Label | None:
        label = self.labels.get(output._id)
        if label is None and output.op.type in FUNCTIONAL_OPS:
            label = self.of_traced(output, graph)
        if label is None and output.op.type == "Identity":
            return self._made_inside(output.op.inputs[0], graph)
        return label

    def _inputs_of(self, graph: Any, index: int) -> frozenset[int]:
        """Which arguments an output carries on, element by element."""
        known = self._passed.setdefault(graph, {})
        if index not in known:
            places = {tensor._id: position for position, tensor in enumerate(graph.inputs)}
            known[index] = frozenset(self._walk(graph.outputs[index], graph, places))
        return known[index]

    def _walk(self, tensor: Any, graph: Any, places: dict[int, int]) -> Iterator[int]:
        waiting, seen = [tensor], {tensor._id}
        while waiting and len(seen) < _MAX_OPS:
            current = waiting.pop()
            if current._id in places:
                yield places[current._id]
                continue
            for source in self._sources(current, graph):
                if source._id not in seen:
                    seen.add(source._id)
                    waiting.append(source)

    def _sources(self, tensor: Any, graph: Any) -> list[Any]:
        op = tensor.op
        if op.type in ("PartitionedCall", "StatefulPartitionedCall"):
            inner = functional_graphs(op, graph)[0]
            places = () if inner is None else self._inputs_of(inner, tensor.value_index)
            return [op.inputs[position] for position in places]
        return list(op.inputs) if op.type in SAME or kind_of(op.type) in _PASSING else []


def _together(labels: list[Label]) -> Label | None:
    """One label; of several variables only where they were added up."""
    if not labels:
        return None
    whole = replace(labels[0], scale=None)
    for label in labels[1:]:
        if label.parts or whole.parts:
            return None
        whole = merge(whole, label, None)
    return whole
