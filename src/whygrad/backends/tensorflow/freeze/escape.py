"""Values that left TensorFlow and came back: tied together by order in time and by the code between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.log.positions import span
from whygrad.graph import Flow, Graph, Op, OpId, OpKind, TapeId, TensorId
from whygrad.graph.query import Index
from whygrad.source import SourceSpan
from whygrad.source.slicing import exits, feeding_lines

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture
    from whygrad.backends.tensorflow.log.requests import RequestEntry


_Line = tuple[str, int]


def add_escapes(capture: Capture, graph: Graph, entry: RequestEntry, sources: Iterable[Any]) -> Graph:
    """Add an inferred FOREIGN op for each source that reaches the targets only through Python."""
    index = Index(graph)
    behind = index.behind(map(TensorId, entry.targets))
    leaves = [op for op in graph.ops if op.name in ("Leaf", "Const") and op.outputs and op.outputs[0] in behind]
    leaves += [_bare(target, entry) for target in entry.targets if not index.makers.get(TensorId(target))]
    added: list[Op] = []
    for source in sources:
        starts = set(index.starts(source))
        if not starts or starts & behind:
            continue
        ahead = index.ahead(starts)
        link = (
            _by_departure(capture, ahead, leaves)
            or _by_code(capture, index, entry.tape, ahead, leaves)
            or _by_time(capture, entry.tape, index, ahead, leaves)
        )
        if link is not None and all(op.where != link.where or op.inputs != link.inputs for op in added):
            added.append(replace(link, id=OpId(len(graph.ops) + len(added) + 1)))
    return replace(graph, ops=(*graph.ops, *added)) if added else graph


def _bare(target: int, entry: RequestEntry) -> Op:
    """A target that no op made: what feeds it is read from the request's own expression."""
    where = span(entry.place)
    return Op(
        id=OpId(0), kind=OpKind.CONSTANT, name="Leaf", inputs=(), outputs=(TensorId(target),), flows=(), where=where
    )


def _by_departure(capture: Capture, ahead: set[TensorId], leaves: list[Op]) -> Op | None:
    """A tensor was seen leaving, and its line is among those that feed what came in next."""
    for departure in reversed(capture.recorder.departures):
        where = span(departure.place)
        if TensorId(departure.tensor) not in ahead or where is None:
            continue
        for leaf in _after(capture, departure.sequence, leaves):
            if leaf.where is not None and where.file == leaf.where.file and where.line in feeding_lines(leaf.where):
                return _foreign(departure.how, TensorId(departure.tensor), leaf, where)
    return None


def _after(capture: Capture, sequence: int, leaves: list[Op]) -> list[Op]:
    """The values that came in after a moment, soonest first; a bare target counts as last."""
    met = capture.recorder.leaves
    times = [(met[leaf.outputs[0]].sequence if leaf.outputs[0] in met else 10**12, leaf) for leaf in leaves]
    return [leaf for time, leaf in sorted(times, key=lambda each: each[0]) if time >= sequence]


def _by_time(capture: Capture, tape: int, index: Index, ahead: set[TensorId], leaves: list[Op]) -> Op | None:
    """A whole tensor left under the tape, and the very next value that came in is one the loss depends on."""
    for departure in reversed(capture.recorder.departures):
        tensor = TensorId(departure.tensor)
        facts = index.tensors.get(tensor)
        where = span(departure.place)
        if tensor not in ahead or facts is None or not facts.shape or where is None:
            continue
        if not any(TapeId(tape) in op.tapes for op in index.makers.get(tensor, ())):
            continue
        for leaf in _after(capture, departure.sequence, leaves)[:1]:
            met = capture.recorder.leaves.get(leaf.outputs[0])
            if met is not None and met.sequence <= departure.sequence + 2:
                return _foreign(departure.how, tensor, leaf, where)
    return None


def _by_code(capture: Capture, index: Index, tape: int, ahead: set[TensorId], leaves: list[Op]) -> Op | None:
    """NumPy read the tensor's memory unseen; the code that feeds what came in shows the call.

    A call that tensors were seen to leave by is no such thing: those that matter here were looked at before.
    """
    lines, cleared = _lines_of(capture, index, tape, ahead), _cleared(capture, ahead)
    files, tensors = {file for file, _ in lines}, {line: tensor for (_, line), tensor in lines.items()}
    for leaf in leaves:
        if leaf.where is None or leaf.where.file not in files:
            continue
        for way_out in exits(leaf.where):
            fed = [tensors[line] for line in sorted(way_out.feeding) if line in tensors]
            if fed and (way_out.span.file, way_out.span.line) not in cleared:
                return _foreign(way_out.how, fed[-1], leaf, way_out.span)
    return None


def _lines_of(capture: Capture, index: Index, tape: int, ahead: set[TensorId]) -> dict[_Line, TensorId]:
    """The lines that compute something of the source, under the tape if any do, and what the last op of each made.

    A network computes where it was called, wherever its layers are shown.
    """
    made = [op for op in index.ops if op.where is not None and any(tensor in ahead for tensor in op.outputs)]
    under_tape = [op for op in made if TapeId(tape) in op.tapes]
    called, lines = capture.keras.called_at.by_name(), dict[_Line, TensorId]()
    for op in under_tape or made:
        tensor = next(tensor for tensor in op.outputs if tensor in ahead)
        for where in (op.where, *(span(place) for name in op.layers[:1] for place in called.get(name, ()))):
            lines.update((line, tensor) for line in _lines_in(where))
    return lines


def _cleared(capture: Capture, ahead: set[TensorId]) -> set[_Line]:
    """The lines by which tensors were seen to leave, but none of those that matter."""
    seen: dict[bool, set[_Line]] = {True: set(), False: set()}
    for departure in capture.recorder.departures:
        seen[TensorId(departure.tensor) in ahead].update(_lines_in(span(departure.place)))
    return seen[False] - seen[True]


def _lines_in(where: SourceSpan | None) -> list[_Line]:
    return [] if where is None else [(where.file, line) for line in range(where.line, where.last_line + 1)]


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
