"""Whether a variable was given a value of another origin between its gradient and the update."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.log.op_table import kind_of
from whygrad.graph import OpKind

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.log.op_record import OpRecord
    from whygrad.backends.tensorflow.log.recorder import Recorder
    from whygrad.backends.tensorflow.log.variables import VariableEntry

_MAX_RECORDS = 256


def overwritten(recorder: Recorder, entry: VariableEntry, since: int, graph: Any) -> Any:
    """Where; None if it was not written since, or with something that may come from the variable itself.

    Weight decay, clipping and putting a saved copy back all come from the variable. An array from Python may be one.
    """
    write: OpRecord | None = entry.assigned
    if write is None or write.sequence <= since or len(write.inputs) < 2:
        return None
    makers = _makers(recorder, graph)
    handles, waiting, seen = {entry.id}, [write.inputs[1]], set[int]()
    while waiting:
        number = waiting.pop()
        if number in seen:
            continue
        seen.add(number)
        maker = makers.get(number)
        if maker is None or len(seen) > _MAX_RECORDS or number in recorder.labels.tensors:
            return None  # from Python, from long ago, or a gradient
        if kind_of(maker.type) is OpKind.READ and maker.inputs:
            source = recorder.variables.entries.get(recorder._outermost(maker.inputs[0], graph))
            if source is None or source.id in handles:
                return None
            handles.add(source.id)
            if source.assigned is not None:
                waiting.append(source.assigned.inputs[1])
        elif kind_of(maker.type) is not OpKind.CONSTANT:
            waiting += maker.inputs
    return write.place


def _makers(recorder: Recorder, graph: Any) -> dict[int, Any]:
    if graph is None:
        return recorder.producers
    log = recorder.traces.get(graph)
    return {facts.id: record for record in (log.records if log is not None else ()) for facts in record.outputs}
