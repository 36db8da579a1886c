"""What must hold of every graph and every recording, as a table of checks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from whygrad.graph.node import Flow, Graph, Op, OpKind, TensorId
from whygrad.graph.recording import Outcome, Recording
from whygrad.graph.sources import spans_in
from whygrad.source import SourceSpan


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that does not hold."""

    check: str
    detail: str

    def __str__(self) -> str:
        return f"{self.check}: {self.detail}"


def verify(recording: Recording) -> list[Violation]:
    """Everything that is wrong with a recording and the graphs of its requests; empty: it is sound."""
    found = [Violation(name, detail) for name, check in RECORDING_CHECKS.items() for detail in check(recording)]
    seen: dict[int, Graph] = {id(request.graph): request.graph for request in recording.requests}
    return [*found, *(violation for graph in seen.values() for violation in verify_graph(graph))]


def verify_graph(graph: Graph) -> list[Violation]:
    """Everything that is wrong with one graph."""
    return [Violation(name, detail) for name, check in GRAPH_CHECKS.items() for detail in check(graph)]


def _growing(graph: Graph) -> Iterator[str]:
    for before, op in zip(graph.ops, graph.ops[1:], strict=False):
        if op.id <= before.id:
            yield f"op {op.id} comes after op {before.id}"


def _keyed(graph: Graph) -> Iterator[str]:
    yield from _misfiled("tensor", graph.tensors)


def _described(graph: Graph) -> Iterator[str]:
    mentioned = dict.fromkeys(tensor for op in graph.ops for tensor in (*op.inputs, *op.outputs))
    yield from (f"tensor {tensor} is in no table" for tensor in mentioned if tensor not in graph.tensors)


def _one_flow_each(graph: Graph) -> Iterator[str]:
    for op in graph.ops:
        if len(op.flows) != len(op.inputs):
            yield f"op {op.id} has {len(op.inputs)} inputs and {len(op.flows)} flows"


def _distinct_outputs(graph: Graph) -> Iterator[str]:
    yield from (f"op {op.id} makes a tensor twice" for op in graph.ops if len(set(op.outputs)) < len(op.outputs))


def _variables_where_due(graph: Graph) -> Iterator[str]:
    for op in graph.ops:
        if op.variable is None and op.kind in _TOUCHING:
            yield f"op {op.id} is a {op.kind} of no variable"
        if op.variable is not None and op.kind not in _HOLDING:
            yield f"op {op.id} is a {op.kind} but names variable {op.variable}"


def _reads_and_writes(graph: Graph) -> Iterator[str]:
    for op in graph.ops:
        if op.kind is OpKind.READ and not op.outputs:
            yield f"op {op.id} reads into nothing"
        if op.kind is OpKind.WRITE and op.outputs and not op.inputs:
            yield f"op {op.id} writes nothing and yet gives a tensor"


def _custom_not_bypassed(graph: Graph) -> Iterator[str]:
    """A custom gradient stands for the whole function: what ran inside carries no gradient past it."""
    made = {tensor: op.id for op in graph.ops if op.kind is OpKind.CUSTOM for tensor in op.outputs}
    for op in graph.ops:
        if op.kind is not OpKind.CUSTOM and set(op.flows) - {Flow.BLOCKED}:
            yield from (f"op {op.id} leads past op {made[t]} to tensor {t}" for t in op.outputs if t in made)


def _derivatives_known(graph: Graph) -> Iterator[str]:
    known = {op.id for op in graph.ops}
    for op in graph.ops:
        if op.derivative_of is not None and op.derivative_of not in known:
            yield f"op {op.id} is the derivative of op {op.derivative_of}, which is not there"


def _misfiled(what: str, table: Mapping[Any, object]) -> Iterator[str]:
    for key, value in table.items():
        if getattr(value, "id", None) != key:
            yield f"{what} {getattr(value, 'id', None)} is filed under {key}"


def _keys(recording: Recording) -> Iterator[str]:
    yield from _misfiled("variable", recording.variables)
    yield from _misfiled("tape", recording.tapes)


def _tapes_known(recording: Recording) -> Iterator[str]:
    for number, request in enumerate(recording.requests):
        if request.tape not in recording.tapes:
            yield f"request {number} asks tape {request.tape}, which is not there"


def _variables_known(recording: Recording) -> Iterator[str]:
    for number, request in enumerate(recording.requests):
        for op in request.graph.ops:
            if op.kind in _TOUCHING and op.variable is not None and op.variable not in recording.variables:
                yield f"op {op.id} of request {number} touches variable {op.variable}, which is not there"
        for source in request.sources:
            if source.variable is not None and source.variable not in recording.variables:
                yield f"request {number} asks for variable {source.variable}, which is not there"
    for number, update in enumerate(recording.updates):
        for variable in (*(pair.variable for pair in update.pairs), *update.unknown):
            if variable not in recording.variables:
                yield f"update {number} moves variable {variable}, which is not there"


def _sources_are_one_thing(recording: Recording) -> Iterator[str]:
    for number, request in enumerate(recording.requests):
        for position, source in enumerate(request.sources):
            things = (source.variable is not None) + (source.tensor is not None) + bool(source.type_name)
            if things != 1:
                yield f"source {position} of request {number} is {things} things"


def _outcomes_fit(recording: Recording) -> Iterator[str]:
    for number, request in enumerate(recording.requests):
        for position, source in enumerate(request.sources):
            if (source.outcome is Outcome.FAILED) != (request.error is not None):
                yield f"source {position} of request {number} is {source.outcome}, the error {request.error!r}"


def _targets_are_there(recording: Recording) -> Iterator[str]:
    for number, request in enumerate(recording.requests):
        if not request.targets and not request.target_type and request.error is None:
            yield f"request {number} has no target"
        if len(set(request.targets)) < len(request.targets):
            yield f"request {number} has a target twice"


def _history_is_whole(recording: Recording) -> Iterator[str]:
    """What the targets are made of goes back to ops that take nothing, or to what was asked for."""
    for number, request in enumerate(recording.requests):
        makers: dict[TensorId, list[Op]] = defaultdict(list)
        for op in request.graph.ops:
            for tensor in op.outputs:
                makers[tensor].append(op)
        asked = {source.tensor for source in request.sources}
        seen = set(request.targets)
        todo = [] if request.graph.truncated or not request.graph.ops else list(request.targets)
        while todo:
            tensor = todo.pop()
            if tensor not in makers and tensor not in asked:
                yield f"tensor {tensor}, which request {number} is made of, comes from nowhere"
            behind = {each for op in makers.get(tensor, ()) for each in op.inputs} - seen
            seen |= behind
            todo.extend(behind)


def _counted(recording: Recording) -> Iterator[str]:
    counts = [(f"request {n}", request.seen, request.order) for n, request in enumerate(recording.requests)]
    counts += [(f"update {n}", update.seen, update.order) for n, update in enumerate(recording.updates)]
    yield from (f"{what} was seen {seen} times, at {order}" for what, seen, order in counts if seen < 1 or order < 0)


def _watched_in_time(recording: Recording) -> Iterator[str]:
    for number, request in enumerate(recording.requests):
        last = request.graph.ops[-1].id if request.graph.ops else 0
        for position, source in enumerate(request.sources):
            if source.watched is not None and not 0 <= source.watched <= last + 1:
                yield f"source {position} of request {number} is watched from op {source.watched} of {last} on"


def _pairs_fit(recording: Recording) -> Iterator[str]:
    for number, update in enumerate(recording.updates):
        for pair in update.pairs:
            if pair.missing and pair.gradient_of:
                yield f"update {number} has a missing gradient for {pair.variable} that is known to be of others"


def _spans_sane(recording: Recording) -> Iterator[str]:
    for span in dict.fromkeys(spans_in(recording)):
        if fault := _fault(span):
            yield f"{span}: {fault}"


def _fault(span: SourceSpan) -> str | None:
    if not span.file:
        return "no file"
    if span.line < 1 or span.last_line < span.line:
        return "lines begin at 1 and do not run backwards"
    if span.column is None:
        return None if span.end_column is None else "an end without a beginning"
    if span.column < 0 or (span.end_column is not None and span.end_column < 0):
        return "columns begin at 0"
    if span.last_line == span.line and span.end_column is not None and span.end_column < span.column:
        return "ends before it begins"
    return None


_TOUCHING: Final = (OpKind.READ, OpKind.WRITE)
_HOLDING: Final = (*_TOUCHING, OpKind.STATE)

GRAPH_CHECKS: Final[Mapping[str, Callable[[Graph], Iterator[str]]]] = {
    "op ids grow": _growing,
    "tensors are filed under their ids": _keyed,
    "tensors are described": _described,
    "each input has a flow": _one_flow_each,
    "outputs are distinct": _distinct_outputs,
    "variables are named where due": _variables_where_due,
    "reads give, writes take": _reads_and_writes,
    "custom gradients are not bypassed": _custom_not_bypassed,
    "derivatives are of known ops": _derivatives_known,
}

RECORDING_CHECKS: Final[Mapping[str, Callable[[Recording], Iterator[str]]]] = {
    "things are filed under their ids": _keys,
    "tapes are known": _tapes_known,
    "variables are known": _variables_known,
    "a source is one thing": _sources_are_one_thing,
    "outcomes fit": _outcomes_fit,
    "targets are there": _targets_are_there,
    "history is whole": _history_is_whole,
    "things are counted": _counted,
    "watched in time": _watched_in_time,
    "pairs fit": _pairs_fit,
    "spans are sane": _spans_sane,
}
