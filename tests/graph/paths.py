"""The slow twin of `whygrad.graph.questions.query`: every question is answered by writing out all paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from whygrad.graph import Flow, Graph, Op, OpKind, TapeId, TensorId, VariableId


@dataclass(frozen=True)
class Edge:
    """A value goes from one tensor into another, through one input of one op."""

    start: TensorId
    end: TensorId
    op: Op
    input: int
    written: bool = False  # by way of a variable


def edges(graph: Graph) -> list[Edge]:
    found = []
    for op in graph.ops:
        if op.kind is OpKind.SHAPE:
            continue
        for position, tensor in enumerate(op.inputs):
            found += [Edge(tensor, result, op, position) for result in op.outputs]
            if op.kind is OpKind.WRITE:
                later = [read for read in reads(graph, op.variable) if read.id > op.id]
                found += [Edge(tensor, t, op, position, written=True) for read in later for t in read.outputs]
    return found


def reads(graph: Graph, variable: VariableId | None) -> list[Op]:
    return [op for op in graph.ops if op.kind is OpKind.READ and op.variable == variable]


def is_open(graph: Graph, edge: Edge, tape: TapeId, *, zeros: bool = True) -> bool:
    """Whether a gradient comes back through it."""
    passing = (Flow.CARRIED, Flow.ZERO) if zeros else (Flow.CARRIED,)
    flows = tape in edge.op.tapes and edge.op.flows[edge.input] in passing
    return flows and not edge.written and graph.tensors[edge.end].is_floating


def paths(graph: Graph, starts: Iterable[TensorId]) -> Iterator[tuple[Edge, ...]]:
    """Every path that meets no tensor twice, from each start, at every length."""
    leaving: dict[TensorId, list[Edge]] = {}
    for edge in edges(graph):
        leaving.setdefault(edge.start, []).append(edge)

    def walk(path: tuple[Edge, ...], at: TensorId, met: frozenset[TensorId]) -> Iterator[tuple[Edge, ...]]:
        yield path
        for edge in leaving.get(at, ()):
            if edge.end not in met:
                yield from walk((*path, edge), edge.end, met | {edge.end})

    for start in starts:
        yield from walk((), start, frozenset({start}))
