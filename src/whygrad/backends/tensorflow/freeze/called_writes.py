"""Which variables a call writes to: in the functions, branches and loops that it runs."""

from __future__ import annotations

from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.op_record import OpRecord
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.trace_log import trace_records
from whygrad.graph import OpKind


class CalledWrites:
    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._known: dict[int, frozenset[int]] = {}  # by graph: the positions of the inputs that it writes to

    def of(self, call: OpRecord) -> set[int]:
        """The inputs of a call that what it runs writes to; an optimizer's updates are not meant."""
        given = call.handed_on
        positions = {at for graph in call.calls if graph is not None for at in self._positions(graph)}
        return {given[at] for at in positions if at < len(given)}

    def _positions(self, graph: Any) -> frozenset[int]:
        known = self._known.get(id(graph))
        if known is not None:
            return known
        self._known[id(graph)] = frozenset()  # while it is looked at: it may call itself
        written = set[int]()
        for record in trace_records(self._recorder, graph):
            if record.calls:
                written |= self.of(record)
            elif record.kind is OpKind.WRITE and record.type != "ApplyGradients":
                written.update(record.inputs[:1])
        found = frozenset(at for at, given in enumerate(graph.inputs) if compat.tensor_id(given) in written)
        self._known[id(graph)] = found
        return found
