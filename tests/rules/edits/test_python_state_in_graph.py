from __future__ import annotations

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.graph.event import BakedState


def test_fires_when_a_counter_is_counted_up_while_tracing() -> None:
    g = GraphBuilder()
    g.event(BakedState(name="self.count", where=at(4), read=at(6)))
    found = one(g.finish())

    assert found.code == "WG603"
    assert found.primary is not None
    assert found.primary.span == at(4)


def test_fires_when_a_number_was_another_at_a_later_run() -> None:
    g = GraphBuilder()
    g.event(BakedState(name="beta", where=None, read=at(6), outside=True))
    found = one(g.finish())

    assert found.primary is not None
    assert (found.primary.span, found.related) == (at(6), ())


def test_fires_when_random_numbers_are_drawn_while_tracing() -> None:
    g = GraphBuilder()
    g.event(BakedState(name="random.random()", where=at(3), read=at(9), drawn="random"))
    found = one(g.finish())

    assert found.message.startswith("`random.random()` draws random numbers while the function is traced")
    assert [label.span for label in found.related] == [at(9)]


def test_fires_when_the_network_of_a_traced_step_was_replaced() -> None:
    g = GraphBuilder()
    g.event(BakedState(name="self.network", where=None, read=at(6), outside=True, replaced=True))

    assert "goes on with the old one" in one(g.finish()).message


def test_silent_when_nothing_was_baked_in() -> None:
    assert codes(GraphBuilder().finish()) == []
