"""The frozen `Graph` of one request: the ops that it can reach."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from whygrad.backends.tensorflow.freeze.derivatives import with_derivatives
from whygrad.backends.tensorflow.freeze.graph_writer import GraphWriter
from whygrad.backends.tensorflow.freeze.scope import Scope
from whygrad.backends.tensorflow.keras.facts import KerasFacts
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.requests import RequestEntry
from whygrad.backends.tensorflow.log.tapes import TapeFacts
from whygrad.graph import Departure, Graph, Lapse, Outcome, TensorId
from whygrad.graph.questions.terms import is_sum
from whygrad.observe.place import span
from whygrad.source import SourceSpan
from whygrad.source.module import without_collecting


def freeze(recorder: Recorder, keras: KerasFacts, entry: RequestEntry, tape: TapeFacts, tf_graph: Any) -> Graph:
    """All that the targets depend on, that depends on a source or cuts it out, and random draws apart from these."""
    with without_collecting():
        return _freeze(recorder, keras, entry, tape, tf_graph)


def _freeze(recorder: Recorder, keras: KerasFacts, entry: RequestEntry, tape: TapeFacts, tf_graph: Any) -> Graph:
    scope = Scope(recorder, tf_graph, entry)
    behind = scope.behind(entry.targets)
    needed = behind | scope.ahead(entry.sources) | scope.cutting(entry.sources)
    needed |= scope.draws_apart(entry.tape, needed)
    writer = GraphWriter(recorder, keras, scope, tape)
    for record in scope.records:
        if record.sequence in needed and record.sequence not in scope.shadowed:
            writer.add(record, opened=record.sequence in behind)
    writer.add_leaves()
    for source in entry.sources:
        if source.watched is not None:
            source.watched = writer.first_after(source.watched)
    entry.lapses = tuple(_lapses(writer, tape))
    entry.watched = frozenset(map(TensorId, tape.watched)) & writer.tensors.keys()
    truncated = recorder.dropped_before > 0 and tf_graph is None
    graph = Graph(ops=with_derivatives(writer.ops), tensors=writer.tensors, truncated=truncated)
    lost = any(source.outcome is not Outcome.PRESENT for source in entry.sources)
    targets = [TensorId(target) for target in entry.targets]
    return _with_crossings(recorder, keras, graph) if lost or is_sum(graph, targets) else graph


def _lapses(writer: GraphWriter, tape: TapeFacts) -> Iterator[Lapse]:
    for began, ended, place in tape.stops:
        if ended is not None:
            yield Lapse(first=writer.first_after(began), end=writer.first_after(ended), where=span(place))
    if tape.emptied is not None:
        moment, place = tape.emptied
        first, end = writer.first_after(tape.began - 1), writer.first_after(moment)
        yield Lapse(first=first, end=end, where=span(place), emptied=True)


def _with_crossings(recorder: Recorder, keras: KerasFacts, graph: Graph) -> Graph:
    """The graph of a request that lost a gradient, with the facts that may tell how."""
    names = {name for op in graph.ops for name in op.layers[:1]}
    called = {name: places for name, places in (keras.called_at.by_name() if names else {}).items() if name in names}
    return replace(
        graph,
        departures=tuple(_departures(recorder, graph)),
        entered={number: recorder.leaves[number].sequence for number in graph.tensors if number in recorder.leaves},
        called={name: tuple(sorted(s for p in places if (s := span(p)))) for name, places in called.items()},
    )


def _departures(recorder: Recorder, graph: Graph) -> Iterator[Departure]:
    """All of the graph's own tensors; of others, one for each place."""
    others = set[SourceSpan]()
    for left in recorder.departures:
        tensor, where = TensorId(left.tensor), span(left.place)
        own = tensor in graph.tensors
        if where is not None and (own or where not in others):
            yield Departure(how=left.how, where=where, tensor=tensor if own else None, moment=left.sequence)
            others.update(() if own else (where,))
