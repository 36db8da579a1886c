"""Where variables are read before a gradient is asked for, and what is computed from them for nothing."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label
from whygrad.graph import Op, OpKind, Recording, Request, Source
from whygrad.source import SourceSpan


def reads_of(request: Request, sources: tuple[Source, ...], *, under_tape: bool = False) -> list[Op]:
    """The ops that read these variables, all of them or those that the request's tape recorded."""
    wanted, tape = {source.variable for source in sources}, request.tape
    reads = [op for op in request.graph.ops if op.kind is OpKind.READ and op.variable in wanted]
    return [op for op in reads if tape in op.tapes] if under_tape else reads


def unused_result(recording: Recording, request: Request, sources: tuple[Source, ...]) -> Label | None:
    place = next(unused_results(recording, request, sources), None)
    return None if place is None else Label(place, "what this computes is not used")


def unused_results(recording: Recording, request: Request, sources: tuple[Source, ...]) -> Iterator[SourceSpan]:
    """Where variables that the target does not depend on are read, or the layers around them are called."""
    made = {recording.variables[source.variable].created for source in sources if source.variable is not None}
    called = request.graph.called
    for op in reads_of(request, sources, under_tape=True):
        for place in (op.where, *(place for layer in op.layers[:1] for place in called.get(layer, ()))):
            if place is not None and place not in (request.where, *made):
                yield place
