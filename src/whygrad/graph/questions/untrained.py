"""Which variables a loss uses although nothing trains them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from whygrad.graph.ledger import WriterKind
from whygrad.graph.node import Op, Variable
from whygrad.graph.questions.fed_in import is_fed_in
from whygrad.graph.questions.query import index_of
from whygrad.graph.recording import Recording, Request


def untrained(recording: Recording) -> list[Variable]:
    """Weights that a training's loss would train, and that no request of this program asks for.

    Data are no weights, be they held in a variable. To be asked where something is trained: else all would be named.
    """
    found: dict[object, Variable] = {}
    for request in training_requests(recording):
        trained = {source.variable for source in request.sources if source.variable is not None}
        for variable, reads in left_out(recording, request):
            is_data = variable.from_data and is_fed_in(index_of(request.graph), reads, trained)
            if variable.trainable and variable.is_floating and not is_data:
                found[variable.id] = variable
    return list(found.values())


def left_out(recording: Recording, request: Request) -> Iterator[tuple[Variable, list[Op]]]:
    """Variables that this loss would train, that no request asks for and nothing writes, with their reads.

    What a layer itself writes is a state, such as that of a recurrent layer from batch to batch.
    """
    updated = {pair.variable for update in recording.updates for pair in update.pairs}
    states = {write.variable for write in recording.ledger.writes if write.kind is WriterKind.LAYER}
    asked = {source.variable for each in training_requests(recording) for source in each.sources}
    index = index_of(request.graph)
    reached = index.open_behind(request.targets, request.tape)
    for number, reads in index.reads.items():
        variable = recording.variables.get(number)
        if variable is None or number in updated | states | asked or variable.writes:
            continue
        live = [op for op in reads if request.tape in op.tapes and any(t in reached for t in op.outputs)]
        if live:
            yield variable, live


def training_requests(recording: Recording) -> Sequence[Request]:
    """Requests for what moves; all, where nothing does."""
    return applied_requests(recording) or recording.requests


def applied_requests(recording: Recording) -> Sequence[Request]:
    """Requests for what moves, by their gradients as far as that is known.

    Others look at gradients, and train nothing by it.
    """
    pairs = [pair for update in recording.updates for pair in update.pairs]
    moved = {number for number, variable in recording.variables.items() if variable.writes}
    moved |= {pair.variable for pair in pairs if not pair.asked_at}
    by_optimizer = {pair.variable for pair in pairs}
    applied = {where for pair in pairs for where in pair.asked_at}

    def trains(request: Request) -> bool:
        asked = {source.variable for source in request.sources}
        known = request.where is not None and applied
        return not asked.isdisjoint(moved if known else moved | by_optimizer) or request.where in applied

    return [request for request in recording.requests if trains(request)]
