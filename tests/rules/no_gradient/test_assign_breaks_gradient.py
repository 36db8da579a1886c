from __future__ import annotations

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.graph import OpKind


def test_fires_when_the_value_is_written_and_read_back() -> None:
    g = GraphBuilder()
    w, copy = g.variable("w"), g.variable("copy", trainable=False)
    g.write(copy, g.op(OpKind.SMOOTH, (w,)), where=at(3))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (copy,)), sources=[w]))

    assert found.code == "WG112"
    assert found.message == (
        "no gradient reaches `w`: its value reaches the loss only through a variable it was written into"
    )
    assert found.primary is not None
    assert found.primary.span == at(3)


def test_fires_rather_than_outside_tape_when_the_write_came_before_the_tape() -> None:
    g = GraphBuilder()
    w, copy = g.variable("w"), g.variable("copy", trainable=False)
    with g.outside():
        g.write(copy, g.op(OpKind.SMOOTH, (w,), where=at(2)), where=at(3))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (copy,)), sources=[w])) == ["WG112"]


def test_silent_when_the_write_comes_after_the_last_read() -> None:
    g = GraphBuilder()
    w, average = g.variable("w"), g.variable("average", trainable=False)
    loss = g.op(OpKind.SMOOTH, (w, average))
    g.write(average, w, where=at(3))

    assert codes(g.finish(loss=loss)) == []


def test_silent_when_the_value_itself_is_in_the_loss_too() -> None:
    g = GraphBuilder()
    w, average = g.variable("w"), g.variable("average", trainable=False)
    value = g.op(OpKind.SMOOTH, (w,))
    g.write(average, value, where=at(3))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (value, average)), sources=[w])) == []


def test_silent_when_only_data_is_written() -> None:
    g = GraphBuilder()
    w, buffer = g.variable("w"), g.variable("buffer", trainable=False)
    g.write(buffer, g.constant(), where=at(3))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, buffer)), sources=[w])) == []


def test_silent_when_what_is_written_belongs_to_a_custom_gradient() -> None:
    g = GraphBuilder()
    w, copy = g.variable("w"), g.variable("copy", trainable=False)
    inside = g.op(OpKind.STOP, (w,), custom="clipped", where=at(3))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (inside, copy)), sources=[w])) == ["WG114"]
