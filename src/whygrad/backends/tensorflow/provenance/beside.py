"""Whether a variable took part in the very pass whose gradients of other variables it is moved by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.log.op_table import kind_of
from whygrad.graph import OpKind

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.log.op_record import OpRecord
    from whygrad.backends.tensorflow.log.recorder import Recorder


def took_part(recorder: Recorder, variables: Iterable[int], tapes: frozenset[int], graph: Any) -> frozenset[int]:
    """Those of the variables that a sum or mean under one of the tapes depends on, other than through an assignment.

    A copy that gradients are taken of on another's behalf is filled from it, perhaps under the tape, but what the
    original itself computes is no part of the pass.
    """
    asked, found = set(variables), set[int]()
    reached: dict[int, frozenset[int]] = {}  # tensor -> the variables it depends on
    for record in _records(recorder, graph):
        if tapes.isdisjoint(record.tapes) or kind_of(record.type) is OpKind.WRITE:
            continue
        handles = {recorder._outermost(number, graph) for number in record.inputs} & asked
        behind = handles.union(*(reached.get(number, ()) for number in record.inputs))
        if not behind:
            continue
        if kind_of(record.type) is OpKind.REDUCE:
            found |= behind
        reached.update((facts.id, frozenset(behind)) for facts in record.outputs)
    return frozenset(found)


def _records(recorder: Recorder, graph: Any) -> list[OpRecord]:
    if graph is None:
        return list(recorder.records)
    log = recorder.traces.get(graph)
    return log.records if log is not None else []
