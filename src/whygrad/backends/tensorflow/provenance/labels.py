"""Whose gradient is this tensor? A label goes with every gradient through clipping, scaling, casts and sums.

Labels are carried forward as ops run, one dictionary look-up an input, so that an accumulator of any length costs
nothing extra and the answer is there when the optimizer is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.log.op_table import kind_of
from whygrad.backends.tensorflow.provenance.label import Label, merge
from whygrad.backends.tensorflow.provenance.label_calls import SAME, LabelCalls
from whygrad.backends.tensorflow.provenance.label_parts import JOINING, PARTING, joined, parted
from whygrad.graph import OpKind

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.log.op_record import OpRecord


class Labels:
    """Labels of tensors and of the variables that gradients were written into."""

    def __init__(self) -> None:
        self.tensors: dict[int, Label] = {}
        self.variables: dict[int, Label] = {}
        self.norms: set[int] = set()  # numbers computed from whole gradients
        self.noise: set[int] = set()
        self.clipped_sums: dict[Any, bool] = {}  # (where clipped, where summed) -> noise was added afterwards
        self.carried_sums: dict[Any, Any] = {}  # where gradients of a running sum were asked -> where added up
        self.scalars: dict[int, float] = {}  # constants that came in from Python
        self.calls = LabelCalls(self.tensors)

    def follow(
        self, record: OpRecord, handle: int | None, inputs: Sequence[Any], outputs: Sequence[Any], graph: Any
    ) -> None:
        """Carry the labels of an op's inputs on to its outputs; `handle` is the variable it reads or writes."""
        tensors = self.tensors
        if not tensors and not self.variables:
            return
        if graph is not None:
            self._enter_calls(inputs, graph)
        elif record.calls:
            self._called(record)
            return
        found = [(number, tensors[number]) for number in record.inputs if number in tensors]
        if found and record.type == "IdentityN":
            for facts, number in zip(record.outputs, record.inputs, strict=True):
                if number in tensors:
                    tensors[facts.id] = tensors[number]
            return
        if found and record.type in MOVING and self._moved(record, inputs, outputs):
            return
        kind = kind_of(record.type)
        if handle is not None and kind is OpKind.READ and handle in self.variables:
            self._give(record, replace(self.variables[handle], slot=handle))
        elif handle is not None and kind is OpKind.WRITE:
            self._write(record, handle, found)
        elif found:
            self._through(record, kind, found)
        elif kind is OpKind.NOISE or any(number in self.noise for number in record.inputs):
            self.noise.update(facts.id for facts in record.outputs)
        elif any(number in self.norms for number in record.inputs):
            self.norms.update(facts.id for facts in record.outputs)

    def _enter_calls(self, inputs: Sequence[Any], graph: Any) -> None:
        """Calls inside a traced function show no op; whoever uses what they give asks for it."""
        for tensor in inputs:
            if tensor._id not in self.tensors and tensor.dtype.is_floating:
                self.calls.of_traced(tensor, graph)

    def _called(self, record: OpRecord) -> None:
        """A compiled function was called."""
        for function in record.calls:
            if function is None:
                continue
            self.calls.arrived(function, record.inputs)
            labels = self.calls.outputs(function, record.inputs)
            for facts, label in zip(record.outputs, labels, strict=False):
                if label is not None:
                    self.tensors[facts.id] = label

    def _moved(self, record: OpRecord, inputs: Sequence[Any], outputs: Sequence[Any]) -> bool:
        """Gradients joined, or taken apart again; False where the op is nothing of that kind."""
        if record.type in JOINING:
            label = joined(record.type, inputs, self.tensors)
            if label is not None:
                self._give(record, label)
            return True
        whole = self.tensors.get(record.inputs[1 if record.type == "Split" else 0])  # Split: the axis comes first
        if whole is None or not whole.parts:
            return record.type in PARTING
        if record.type in PARTING:  # of any other, where the pieces are now is not followed
            for facts, piece in zip(record.outputs, parted(record.type, inputs, outputs, whole), strict=False):
                if piece is not None:
                    self.tensors[facts.id] = piece
        return True

    def of(self, tensor: Any) -> Label | None:
        """The label of one gradient; None where it is not known, or several are joined in the tensor."""
        number = getattr(tensor, "_id", None)
        label = self.tensors.get(number) if number is not None else None
        graph = getattr(tensor, "graph", None) if label is None and self.tensors else None
        if graph is not None:
            label = self.calls.of_traced(tensor, graph)
        return None if label is None or label.parts else label

    def _give(self, record: OpRecord, label: Label) -> None:
        for facts in record.outputs:
            self.tensors[facts.id] = label

    def _write(self, record: OpRecord, handle: int, found: list[tuple[int, Label]]) -> None:
        adds = record.type in ("AssignAddVariableOp", "AssignSubVariableOp", "ResourceScatterAdd")
        before = self.variables.get(handle) if adds else None
        if found and handle in found[0][1].variables:  # a step along its own gradient: what it holds is no gradient
            self.variables.pop(handle, None)
        elif found:
            label = found[0][1] if before is None else merge(before, found[0][1], record.place)
            if adds and label.graph and label.clipped:  # a traced sum runs once for each micro-batch
                label = replace(label, clipped_then_summed=(label.clipped, record.place))
            self.variables[handle] = label
            self._note(label)
        elif not adds:
            self.variables.pop(handle, None)

    def _through(self, record: OpRecord, kind: OpKind, found: list[tuple[int, Label]]) -> None:
        if record.type in _SPREADING:
            self._give(record, found[0][1])
            return
        if kind is OpKind.REDUCE:
            self.norms.update(facts.id for facts in record.outputs)
            return
        if kind is OpKind.ELEMENTWISE and record.type in _SUMS:
            self._give(record, self._sum(record, [label for _, label in found]))
        elif record.type in ("Mul", "RealDiv", "Div", "DivNoNan"):
            self._give(record, self._scaled(record, found))
        elif kind is OpKind.CLIP:
            self._give(record, replace(found[0][1], clipped=record.place))
        elif kind is OpKind.CAST or record.type in SAME:
            self._give(record, found[0][1])
        elif kind is OpKind.SELECT:
            if len({label.variables for _, label in found}) == 1:
                self._give(record, found[0][1])
        elif kind in (OpKind.ELEMENTWISE, OpKind.SMOOTH, OpKind.SQRT, OpKind.POWER, OpKind.SIGN):
            self._give(record, replace(found[0][1], scale=None))

    def _sum(self, record: OpRecord, labels: list[Label]) -> Label:
        total = labels[0]
        for label in labels[1:]:
            total = merge(total, label, record.place)
        if any(number in self.noise for number in record.inputs):
            total = replace(total, noised=True)
        self._note(total)
        return total

    def _note(self, label: Label) -> None:
        if label.asked is not None and not label.carries.isdisjoint(label.requests):
            self.carried_sums[label.asked[0]] = label.summed
        places = label.clipped_then_summed
        if places is not None and label.asked is not None:
            self.clipped_sums[places] = self.clipped_sums.get(places, False) or label.noised

    def _scaled(self, record: OpRecord, found: list[tuple[int, Label]]) -> Label:
        number, label = found[0]
        others = [each for each in record.inputs if each != number]
        if any(each in self.norms for each in others):
            return replace(label, clipped=record.place)
        factor = self.scalars.get(others[0]) if len(others) == 1 else None
        if factor is None or label.scale is None or (record.type != "Mul" and factor == 0):
            return replace(label, scale=None)
        scale = label.scale * factor if record.type == "Mul" else label.scale / factor
        return replace(label, scale=scale, divided=record.place)

    def forget(self, number: int) -> None:
        self.tensors.pop(number, None)
        self.norms.discard(number)
        self.noise.discard(number)
        self.scalars.pop(number, None)


# Rows of a sparse gradient put in their places.
_SPREADING = frozenset({"UnsortedSegmentSum", "TensorScatterAdd", "TensorScatterUpdate", "ScatterNd"})
_SUMS = frozenset({"Add", "AddV2", "AddN", "Sub", "AccumulateNV2"})
MOVING = JOINING | PARTING | {"Reshape", "Transpose", "ExpandDims", "Squeeze", "Tile", "Reverse"}
