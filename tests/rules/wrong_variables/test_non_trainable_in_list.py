from __future__ import annotations

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.graph import OpKind


def test_fires_when_statistics_are_among_what_is_asked_for() -> None:
    g = GraphBuilder()
    w, mean = g.variable("w"), g.variable("mean", trainable=False)
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (w, mean)), sources=[w, mean], where=at(6)))

    assert found.code == "WG207"
    assert found.message == "`mean` cannot get a gradient: not trainable, but in the list of variables"
    assert found.primary is not None
    assert (found.primary.span, found.primary.text) == (at(6), "1 of 2 are not trainable")


def test_silent_when_only_trainable_variables_are_asked_for() -> None:
    g = GraphBuilder()
    w, mean = g.variable("w"), g.variable("mean", trainable=False)

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, mean)))) == []


def test_silent_when_the_variable_is_watched_by_hand() -> None:
    g = GraphBuilder()
    w, mean = g.variable("w"), g.variable("mean", trainable=False)
    g.watch(mean)

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, mean)), sources=[w, mean])) == []


def test_silent_when_nothing_in_the_list_is_trainable() -> None:
    g = GraphBuilder()
    mean = g.variable("mean", trainable=False)

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (mean,)), sources=[mean])) == ["WG108"]


def test_silent_when_zeros_are_asked_for_in_place_of_none() -> None:
    g = GraphBuilder()
    w, mean = g.variable("w"), g.variable("mean", trainable=False)
    loss = g.op(OpKind.SMOOTH, (w, mean))

    assert codes(g.finish(loss=loss, sources=[w, mean], zeros_accepted=True)) == []
