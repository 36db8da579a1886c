"""The ops of a traced function: as they were logged, or read from its graph."""

from __future__ import annotations

from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.function_graphs import FUNCTIONAL_OPS, functional_graphs
from whygrad.backends.tensorflow.log.op_record import OpRecord, TraceLog, facts_of
from whygrad.source import SourceSpan
from whygrad.source.position import CodeOwner, file_owner


def trace_records(recorder: Any, tf_graph: Any) -> list[OpRecord]:
    """The log of a traced function; read from its graph where it was traced before watching began."""
    log = recorder.traces.get(tf_graph)
    if log is not None:
        return _with_unannounced(recorder, tf_graph, log)
    cached: list[OpRecord] | None = recorder.untraced.get(tf_graph)
    if cached is None:
        cached = [_from_operation(operation, tf_graph) for operation in tf_graph.get_operations()]
        recorder.untraced[tf_graph] = cached
    return cached


def _with_unannounced(recorder: Any, tf_graph: Any, log: TraceLog) -> list[OpRecord]:
    """TensorFlow does not announce the call of one traced function by another, nor what a vectorised loop is made of.

    The calls are added from the graph, and of other ops those that a logged one takes something from.
    """
    operations, records = tf_graph.get_operations(), log.records
    if log.compared != (len(operations), len(records)):
        for operation in _missing(operations, records):
            needs = {compat.tensor_id(tensor) for tensor in operation.inputs}
            last = max((i for i, r in enumerate(records) if any(f.id in needs for f in r.outputs)), default=-1)
            record = _from_operation(operation, tf_graph)
            record.sequence = next(recorder.sequence)
            neighbour = records[last + 1] if last + 1 < len(records) else records[last] if records else None
            if neighbour is not None:
                record.tapes, record.layers = neighbour.tapes, neighbour.layers
                record.place = record.place or neighbour.place
            records.insert(last + 1, record)
            log.makers.update((facts.id, record) for facts in record.outputs)
        log.compared = (len(operations), len(records))
    return records


def _missing(operations: list[Any], records: list[OpRecord]) -> list[Any]:
    made = {facts.id for record in records for facts in record.outputs}
    wanted = {number for record in records for number in record.inputs} - made
    found = []
    for operation in reversed(operations):
        outputs = [compat.tensor_id(tensor) for tensor in operation.outputs]
        called = operation.type in FUNCTIONAL_OPS and outputs and outputs[0] not in made
        if called or (operation.type != "Placeholder" and not wanted.isdisjoint(outputs)):
            found.append(operation)
            wanted.update({compat.tensor_id(tensor) for tensor in operation.inputs} - made)
    return found[::-1]


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
