"""What left TensorFlow and what came in around one request, and where its layers were called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from whygrad.backends.tensorflow.keras.facts import KerasFacts
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.graph import Departure, Graph, TensorId
from whygrad.observe.place import span
from whygrad.source import SourceSpan


def with_crossings(recorder: Recorder, keras: KerasFacts, graph: Graph) -> Graph:
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
