from __future__ import annotations

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.graph.event import GradientChange


def test_fires_when_the_gradients_of_a_running_total_are_added_up() -> None:
    g = GraphBuilder()
    g.event(GradientChange(asked=at(7), summed=at(8), nested=True))
    found = one(g.finish())

    assert found.code == "WG504"
    assert found.primary is not None
    assert found.primary.span == at(7)
    assert [label.span for label in found.related] == [at(8)]


def test_silent_when_no_total_runs() -> None:
    assert codes(GraphBuilder().finish()) == []
