"""Values that left TensorFlow and came back: tied together by order in time and by the code between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.positions import span
from whygrad.capture.slicing import exits, feeding_lines
from whygrad.graph import Flow, Graph, Op, OpId, OpKind, TensorId
from whygrad.graph.query import Index
from whygrad.source import SourceSpan

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture


def add_escapes(capture: Capture, graph: Graph, targets: Iterable[int], sources: Iterable[Any]) -> Graph:
    """Add an inferred FOREIGN op for each source that reaches the targets only through Python."""
    index = Index(graph)
    behind = index.behind(map(TensorId, targets))
    leaves = [op for op in graph.ops if op.name in ("Leaf", "Const") and op.outputs and op.outputs[0] in behind]
    leaves += [Op(id=OpId(0), kind=OpKind.CONSTANT, name="Leaf", inputs=(), outputs=(TensorId(t),), flows=(), where=_came_in(capture, t)) for t in targets if not index.makers.get(TensorId(t))]
    added: list[Op] = []
    for source in sources:
        starts = set(index.starts(source))
        if not starts or starts & behind:
            continue
        ahead = index.ahead(starts)
        link = _by_departure(capture, graph, ahead, leaves) or _by_code(index, ahead, leaves)
        if link is not None and all(op.where != link.where or op.inputs != link.inputs for op in added):
            added.append(replace(link, id=OpId(len(graph.ops) + len(added) + 1)))
    return replace(graph, ops=(*graph.ops, *added)) if added else graph


def _came_in(capture: Capture, tensor: int) -> SourceSpan | None:
    leaf = capture.recorder.leaves.get(tensor)
    return None if leaf is None else span(leaf.place)


def _by_departure(capture: Capture, graph: Graph, ahead: set[TensorId], leaves: list[Op]) -> Op | None:
    """A tensor was seen leaving, and its line is among those that feed what came in."""
    left = [d for d in capture.recorder.departures if TensorId(d.tensor) in ahead]
    for leaf in leaves:
        if leaf.where is None:
            continue
        lines = feeding_lines(leaf.where)
        for departure in left:
            where = span(departure.place)
            if where is not None and where.file == leaf.where.file and where.line in lines:
                return _foreign(departure.how, TensorId(departure.tensor), leaf, where)
    return None


def _by_code(index: Index, ahead: set[TensorId], leaves: list[Op]) -> Op | None:
    """NumPy read the tensor's memory unseen; the code that feeds what came in shows the call."""
    lines: dict[int, TensorId] = {}
    files = set()
    for op in index.graph.ops:
        if op.where is not None and any(tensor in ahead for tensor in op.outputs):
            files.add(op.where.file)
            for line in range(op.where.line, op.where.last_line + 1):
                lines[line] = next(tensor for tensor in op.outputs if tensor in ahead)
    for leaf in leaves:
        if leaf.where is None or leaf.where.file not in files:
            continue
        for way_out in exits(leaf.where):
            fed = [lines[line] for line in sorted(way_out.feeding) if line in lines]
            if fed:
                return _foreign(way_out.how, fed[-1], leaf, way_out.span)
    return None


def _foreign(how: str, tensor: TensorId, leaf: Op, where: SourceSpan) -> Op:
    return Op(
        id=OpId(0),
        kind=OpKind.FOREIGN,
        name=how,
        inputs=(tensor,),
        outputs=leaf.outputs,
        flows=(Flow.BLOCKED,),
        where=where,
        inferred=True,
    )
