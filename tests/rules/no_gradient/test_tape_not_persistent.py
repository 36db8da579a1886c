from __future__ import annotations

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.graph import OpKind

RAISED = "RuntimeError: A non-persistent GradientTape can only be used to compute one set of gradients"


def test_fires_at_the_second_request_and_shows_the_first() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    with g.tape(entered=at(3)) as tape:
        loss = g.op(OpKind.SMOOTH, (a, b))
    g.request(loss, [a], tape=tape, where=at(5))
    g.spend(tape, at(5))
    g.request(loss, [b], tape=tape, where=at(6), error=RAISED)
    found = one(g.finish())

    assert found.code == "WG115"
    assert found.message == "a second gradient is asked of a tape that is not persistent"
    assert found.primary is not None
    assert found.primary.span == at(6)
    assert [(label.span, label.text) for label in found.related] == [
        (at(5), "the first call uses the tape up"),
        (at(3), "not persistent"),
    ]


def test_names_no_first_request_when_one_place_asks_twice() -> None:
    g = GraphBuilder()
    a = g.variable("a")
    loss = g.op(OpKind.SMOOTH, (a,))
    g.request(loss, where=at(5))
    g.spend(g.own_tape, at(5))
    g.request(loss, where=at(5), error=RAISED)

    assert one(g.finish()).related == ()


def test_silent_when_the_tape_is_persistent() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    with g.tape(persistent=True) as tape:
        loss = g.op(OpKind.SMOOTH, (a, b))
    g.request(loss, [a], tape=tape, where=at(5))
    g.request(loss, [b], tape=tape, where=at(6))

    assert codes(g.finish()) == []


def test_silent_when_each_step_has_a_tape_of_its_own() -> None:
    g = GraphBuilder()
    a = g.variable("a")
    for _ in range(2):
        with g.tape() as tape:
            loss = g.op(OpKind.SMOOTH, (a,))
        g.request(loss, tape=tape, where=at(5))
        g.spend(tape, at(5))

    assert codes(g.finish()) == []


def test_silent_when_the_request_raised_for_another_reason() -> None:
    g = GraphBuilder()
    a = g.variable("a")

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (a,)), error="InvalidArgumentError: shapes")) == []
