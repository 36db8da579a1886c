"""The ops of a traced function: as they were logged, or read from its graph."""

from __future__ import annotations

from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.function_graphs import FUNCTIONAL_OPS, functional_graphs
from whygrad.backends.tensorflow.log.op_record import OpRecord, facts_of
from whygrad.source import SourceSpan
from whygrad.source.position import CodeOwner, file_owner


def trace_records(recorder: Any, tf_graph: Any) -> list[OpRecord]:
    """The log of a traced function; read from its graph where it was traced before watching began."""
    log = recorder.traces.get(tf_graph)
    if log is not None:
        return _with_calls(recorder, tf_graph, log.records)
    cached: list[OpRecord] | None = recorder.untraced.get(tf_graph)
    if cached is None:
        cached = [_from_operation(operation, tf_graph) for operation in tf_graph.get_operations()]
        recorder.untraced[tf_graph] = cached
    return cached


def _with_calls(recorder: Any, tf_graph: Any, logged: list[OpRecord]) -> list[OpRecord]:
    """TensorFlow announces every op but the call of one traced function by another: add those from the graph."""
    made = {facts.id for record in logged for facts in record.outputs}
    calls = [
        operation
        for operation in tf_graph.get_operations()
        if operation.type in FUNCTIONAL_OPS and operation.outputs and compat.tensor_id(operation.outputs[0]) not in made
    ]
    records = list(logged)
    for operation in calls:
        needs = {compat.tensor_id(tensor) for tensor in operation.inputs}
        last = max((i for i, r in enumerate(records) if any(f.id in needs for f in r.outputs)), default=-1)
        record = _from_operation(operation, tf_graph)
        record.sequence = next(recorder.sequence)
        neighbour = records[last + 1] if last + 1 < len(records) else records[last] if records else None
        if neighbour is not None:
            record.tapes, record.layers = neighbour.tapes, neighbour.layers
        records.insert(last + 1, record)
        made.update(facts.id for facts in record.outputs)
    if calls:
        log = recorder.traces[tf_graph]
        log.records[:] = records  # found once
        log.makers.update((facts.id, record) for record in records for facts in record.outputs)
    return records


def _from_operation(operation: Any, tf_graph: Any) -> OpRecord:
    record = OpRecord(
        0,
        operation.type,
        tuple(compat.tensor_id(tensor) for tensor in operation.inputs),
        tuple(facts_of(tensor) for tensor in operation.outputs),
    )
    if operation.type in FUNCTIONAL_OPS:
        record.calls = functional_graphs(operation, tf_graph)
    record.place = from_traceback(operation)
    return record


def from_traceback(operation: Any) -> SourceSpan | None:
    """Line only: graph ops remember no columns."""
    for frame in reversed(list(operation.traceback or ())):
        if file_owner(frame.filename) is CodeOwner.USER:
            return SourceSpan(frame.filename, frame.lineno)
    return None
