from __future__ import annotations

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.diagnostics import Severity
from whygrad.graph import OpKind
from whygrad.graph.event import NoiseUnused


def test_fires_when_a_draw_is_dropped() -> None:
    g = GraphBuilder()
    g.event(NoiseUnused(where=at(5), name="RandomStandardNormal"))
    found = one(g.finish())

    assert (found.code, found.severity) == ("WG302", Severity.WARNING)
    assert found.message == "a random draw is made under the tape but nothing uses it"
    assert found.primary is not None
    assert found.primary.span == at(5)


def test_fires_once_for_a_draw_that_is_dropped_in_every_step() -> None:
    g = GraphBuilder()
    for _ in range(3):
        g.event(NoiseUnused(where=at(5), name="RandomStandardNormal"))

    assert codes(g.finish()) == ["WG302"]


def test_silent_when_the_noise_makes_the_sample() -> None:
    g = GraphBuilder()
    noise = g.op(OpKind.NOISE, (), where=at(5))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (g.variable("mean"), noise)))) == []


def test_silent_when_nothing_is_drawn() -> None:
    g = GraphBuilder()

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (g.variable("mean"),)))) == []
