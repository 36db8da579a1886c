"""Whose gradient is this tensor? A label goes with every gradient through clipping, scaling, casts and sums.

Labels are carried forward as ops run, one dictionary look-up an input, so that an accumulator of any length costs
nothing extra and the answer is there when the optimizer is called.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.op_table import kind_of
from whygrad.graph import OpKind

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.recorder import OpRecord

MAX_REQUESTS = 256  # single requests remembered in one label; beyond that only their number counts


@dataclass(frozen=True, slots=True)
class Label:
    """What went into one gradient tensor."""

    variables: frozenset[int]  # the variables these are gradients of
    requests: frozenset[int]  # the requests that gave them, by number
    asked: Any  # the place of those requests; None where they differ
    scale: float | None = 1.0  # the constant factor of each of them; None: not constant, or they differ
    mean: bool = False  # the loss was a mean over its examples
    clipped: Any = None  # where it was clipped before it was added up
    summed: Any = None  # where several requests were added up last
    mixed: Any = None  # where gradients of different variables were added up
    clipped_then_summed: Any = None  # (where clipped, where summed)
    noised: bool = False  # random noise was added: clipping before is then on purpose
    tapes: frozenset[int] = frozenset()  # the tapes that were asked: micro-batches have one each
    graph: int = 0  # the function graph it was traced in; 0: it ran at once
    slot: int = 0  # the variable it was read from


class Labels:
    """Labels of tensors and of the variables that gradients were written into."""

    def __init__(self) -> None:
        self.tensors: dict[int, Label] = {}
        self.variables: dict[int, Label] = {}
        self.norms: set[int] = set()  # numbers computed from whole gradients
        self.noise: set[int] = set()
        self.clipped_sums: dict[Any, bool] = {}  # (where clipped, where summed) -> noise was added afterwards
        self.scalars: dict[int, float] = {}  # constants that came in from Python

    def follow(self, record: OpRecord, handle: int | None) -> None:
        """Carry the labels of an op's inputs on to its outputs; `handle` is the variable it reads or writes."""
        tensors = self.tensors
        if not tensors and not self.variables:
            return
        found = [(number, tensors[number]) for number in record.inputs if number in tensors]
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

    def _give(self, record: OpRecord, label: Label) -> None:
        for facts in record.outputs:
            self.tensors[facts.id] = label

    def _write(self, record: OpRecord, handle: int, found: list[tuple[int, Label]]) -> None:
        adds = record.type in ("AssignAddVariableOp", "AssignSubVariableOp", "ResourceScatterAdd")
        before = self.variables.get(handle) if adds else None
        if found:
            label = found[0][1] if before is None else merge(before, found[0][1], record.place)
            if adds and label.graph and label.clipped:  # a traced sum runs once for each micro-batch
                label = replace(label, clipped_then_summed=(label.clipped, record.place))
            self.variables[handle] = label
            self._note(label)
        elif not adds:
            self.variables.pop(handle, None)

    def _through(self, record: OpRecord, kind: OpKind, found: list[tuple[int, Label]]) -> None:
        if kind is OpKind.REDUCE:
            self.norms.update(facts.id for facts in record.outputs)
            return
        if kind is OpKind.ELEMENTWISE and record.type in _SUMS:
            self._give(record, self._sum(record, [label for _, label in found]))
        elif record.type in ("Mul", "RealDiv", "Div", "DivNoNan"):
            self._give(record, self._scaled(record, found))
        elif kind is OpKind.CLIP:
            self._give(record, replace(found[0][1], clipped=record.place))
        elif len(found) == 1 and (kind in (OpKind.CAST, OpKind.SELECT) or record.type in _SAME):
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
        return replace(label, scale=label.scale * factor if record.type == "Mul" else label.scale / factor)

    def forget(self, number: int) -> None:
        self.tensors.pop(number, None)
        self.norms.discard(number)
        self.noise.discard(number)
        self.scalars.pop(number, None)


_SUMS = frozenset({"Add", "AddV2", "AddN", "Sub", "AccumulateNV2"})
_SAME = frozenset({"Identity", "Reshape", "Squeeze", "ExpandDims", "Neg", "Transpose", "EnsureShape", "StopGradient"})


def merge(first: Label, second: Label, place: Any) -> Label:
    """The label of a sum."""
    variables = first.variables | second.variables
    requests = first.requests | second.requests
    several = len(requests) > max(len(first.requests), len(second.requests))
    clipped = first.clipped or second.clipped
    return Label(
        variables=variables,
        requests=requests if len(requests) <= MAX_REQUESTS else frozenset(sorted(requests)[-MAX_REQUESTS:]),
        asked=first.asked if first.asked == second.asked else None,
        scale=first.scale if first.scale == second.scale else None,
        mean=first.mean and second.mean,
        clipped=None if several else clipped,
        summed=place if several else first.summed or second.summed,
        mixed=place
        if len(variables) > max(len(first.variables), len(second.variables))
        else first.mixed or second.mixed,
        clipped_then_summed=(
            (clipped, place)
            if several and first.clipped and second.clipped
            else first.clipped_then_summed or second.clipped_then_summed
        ),
        noised=first.noised or second.noised,
        tapes=first.tapes | second.tapes,
        graph=first.graph if first.graph == second.graph else -1,
        slot=first.slot or second.slot,
    )
