"""Updates that were computed and thrown away: `w = w - rate * gradient`, after which nothing uses the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.log.positions import span
from whygrad.graph import VariableId
from whygrad.graph.event import UpdateDiscarded
from whygrad.source.naming import rebinds_itself

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.log.op_record import OpRecord
    from whygrad.backends.tensorflow.log.recorder import Recorder

_STEPPING = frozenset({"Sub", "Add", "AddV2"})
_READING = ("ReadVariableOp", "Identity")
_KEPT = 4096  # results that are waited for

Key = tuple[int, Any]  # the variable, and where the step is computed


class Discarded:
    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.waiting: dict[int, Key] = {}  # results that nothing has used yet
        self.made: dict[Key, int] = {}
        self.used: set[Key] = set()
        self.traced: set[Key] = set()  # what is printed once may be all that was wanted; a compiled step is run again

    def look(self, record: OpRecord, inputs: Sequence[Any], graph: Any) -> None:
        """Called after each op while gradients are about."""
        if record.type not in _STEPPING or len(inputs) != 2 or not record.outputs:
            return
        labels = self.recorder.labels.tensors
        for number, other in ((0, 1), (1, 0)):
            label = labels.get(record.inputs[number])
            if label is None or label.slot or len(label.variables) != 1 or labels.get(record.inputs[other]) is not None:
                continue
            [variable] = label.variables
            if self._variable_read(inputs[other], graph) == variable:
                self._wait(record, (variable, record.place), traced=graph is not None)

    def _wait(self, record: OpRecord, key: Key, *, traced: bool) -> None:
        self.made[key] = self.made.get(key, 0) + 1
        if traced:
            self.traced.add(key)
        if key not in self.used and len(self.waiting) < _KEPT:
            self.waiting[record.outputs[0].id] = key

    def use(self, numbers: Sequence[int]) -> None:
        """These tensors go into an op, or leave TensorFlow."""
        for number in numbers:
            key = self.waiting.pop(number, None)
            if key is not None:
                self.used.add(key)

    def _variable_read(self, tensor: Any, graph: Any) -> int | None:
        if graph is None:
            record = self.recorder.producers.get(tensor._id)
            return record.inputs[0] if record is not None and record.type in _READING and record.inputs else None
        op = getattr(tensor, "op", None)
        while op is not None and op.type == "Identity":
            op = op.inputs[0].op
        return self.recorder._outermost(op.inputs[0]._id, graph) if op is not None and op.type == _READING[0] else None

    def events(self) -> Iterator[UpdateDiscarded]:
        waited = set(self.waiting.values())
        for (variable, place), count in self.made.items():
            where, again = span(place), count > 1 or (variable, place) in self.traced
            if again and (variable, place) in waited - self.used and rebinds_itself(where):
                yield UpdateDiscarded(variable=VariableId(variable), where=where, seen=count)
