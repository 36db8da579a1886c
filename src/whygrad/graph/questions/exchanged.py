"""Losses whose labels and predictions are exchanged."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.graph.node import Op, OpKind, TensorId
from whygrad.graph.questions.query import Index, index_of
from whygrad.graph.recording import Recording, Request


def exchanged_losses(recording: Recording) -> Iterator[tuple[Request, Op]]:
    """Cross-entropies of user code whose labels are trained, and whose predictions are constant."""
    for request in recording.requests:
        index = index_of(request.graph)
        for op in request.graph.ops:
            if op.kind is OpKind.CROSS_ENTROPY and len(op.inputs) == 2 and op.where is not None:
                prediction, label = op.inputs
                if not _is_trained(index, request, prediction) and _is_trained(index, request, label):
                    yield request, op


def _is_trained(index: Index, request: Request, tensor: TensorId) -> bool:
    asked = {source.variable for source in request.sources}
    behind = index.open_behind([tensor], request.tape)
    return any(op.kind is OpKind.READ and op.variable in asked for t in behind for op in index.makers.get(t, ()))
