"""Ops of a compiled step that let no gradient through: by the values of a step that was kept, computed again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any, Final

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.op_record import OpRecord
from whygrad.backends.tensorflow.log.op_table import FLAT_AT_ZERO
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.requests import RequestEntry
from whygrad.backends.tensorflow.measure.finite import array_of
from whygrad.backends.tensorflow.nonfinite.replay.compiled import KeptSteps
from whygrad.backends.tensorflow.nonfinite.replay.step_histories import StepHistories
from whygrad.backends.tensorflow.nonfinite.watched import Watched
from whygrad.graph import Action, Graph, Op, OpKind

MOST_ALIGNED: Final = 4000  # ops of a forward pass: what is compared grows with the square of it


def with_blanks(watched: Watched, histories: StepHistories, entry: RequestEntry) -> Graph:
    """The graph of a request whose gradients are all zero, with what made them so, where that can be told."""
    try:
        with watched.unseen(), compat.eager_scope():
            values = _values(watched, histories, entry)
    except Exception:  # nothing is known to be wrong with the step: there is nothing to say
        return entry.graph
    return replace(entry.graph, ops=tuple(_marked(op, values) for op in entry.graph.ops)) if values else entry.graph


def _values(watched: Watched, histories: StepHistories, entry: RequestEntry) -> dict[int, Any]:
    """The tensors of the trace that the request was met in, as they were in a step, be it of another trace."""
    asked = {id(g): g for g, made in histories.requests.items() if any(each.place == entry.place for each in made)}
    met = [g for g in asked.values() if any(each.targets == entry.targets for each in histories.requests[g])]
    for graph, known in KeptSteps(watched, histories).calls(*asked.values()) if met else ():
        numbers = _same_tensors(watched.recorder, met[0], graph)
        return {first: known[number].tensor for first, number in numbers.items() if number in known}
    return {}


def _same_tensors(recorder: Recorder, one: Any, other: Any) -> dict[int, int]:
    """The tensors of a forward pass, with those of another trace of the same; a layer may be built in one of them."""
    passes = [[op for op in recorder.ops_of(graph) if op.tapes] for graph in (one, other)]
    found: dict[int, int] = {}
    for first, second in _aligned(*passes):
        if len(first.inputs) == len(second.inputs) and len(first.outputs) == len(second.outputs):
            found.update(zip(first.inputs, second.inputs, strict=True))
            found.update((a.id, b.id) for a, b in zip(first.outputs, second.outputs, strict=True))
    return found


def _aligned(one: list[OpRecord], other: list[OpRecord]) -> Iterator[tuple[OpRecord, OpRecord]]:
    """The ops of two traces that are the same: of one type, at one place, in one order."""
    kinds = [[(op.type, op.place) for op in ops] for ops in (one, other)]
    if kinds[0] == kinds[1]:
        yield from zip(one, other, strict=True)
    elif max(map(len, kinds)) <= MOST_ALIGNED:
        for start, begin, size in SequenceMatcher(a=kinds[0], b=kinds[1], autojunk=False).get_matching_blocks():
            yield from zip(one[start : start + size], other[begin : begin + size], strict=True)


def _marked(op: Op, values: Mapping[int, Any]) -> Op:
    blank = [number for number in (*op.inputs, *op.outputs) if compat.is_blank(array_of(values.get(number)))]
    if op.name in FLAT_AT_ZERO:
        return replace(op, flat=op.outputs[0] in blank)
    if op.action is Action.MULTIPLY or op.kind is OpKind.CONTRACT:
        return replace(op, blank=tuple(i for i, number in enumerate(op.inputs) if number in blank))
    if op.action is Action.DIVIDE and op.inputs[0] in blank:
        return replace(op, blank=(0,))
    return op
