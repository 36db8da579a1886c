from __future__ import annotations

from pathlib import Path

from graph_builder import GraphBuilder
from rules.diagnosis import Script, at, codes, one
from whygrad.graph import Flow, OpKind
from whygrad.graph.event import CustomGradient


def test_fires_when_it_returns_none_for_an_input() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    clipped = g.op(OpKind.CUSTOM, (w,), flows=(Flow.BLOCKED,), custom="clipped", where=at(5))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (clipped,))))

    assert found.code == "WG114"
    assert found.message == "no gradient reaches `w`: the custom gradient `clipped` does not pass it on"
    assert found.primary is not None
    assert found.primary.span == at(5)


def test_points_at_the_return_of_the_gradient_that_withholds_it(tmp_path: Path) -> None:
    script = Script(tmp_path, "def grad(upstream):\n    return None")
    g = GraphBuilder()
    w = g.variable("w")
    clipped = g.op(OpKind.CUSTOM, (w,), flows=(Flow.BLOCKED,), custom="clipped", where=at(5))
    g.event(CustomGradient(function="clipped", where=script["def grad(upstream):"], withheld=(0,)))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (clipped,))))

    assert found.primary is not None
    assert found.primary.span == script["return None"]


def test_fires_when_a_second_derivative_meets_a_stop_inside_it() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    inner = g.op(OpKind.STOP, (w,), custom="clipped", where=at(3))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (inner,)))) == ["WG114"]


def test_fires_when_it_forgets_the_variables_it_uses() -> None:
    g = GraphBuilder()
    g.event(CustomGradient(function="dense", where=at(2), variables=("kernel", "bias"), takes_variables=False))
    found = one(g.finish())

    assert found.code == "WG114"
    assert found.message == "the custom gradient `dense` forgets the variables it uses: `kernel` and `bias`"


def test_silent_when_it_passes_the_gradient_on() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    clipped = g.op(OpKind.CUSTOM, (w,), flows=(Flow.CARRIED,), custom="clipped")

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (clipped,)))) == []


def test_silent_when_none_is_returned_for_a_setting() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    clipped = g.op(OpKind.CUSTOM, (w, g.constant()), flows=(Flow.CARRIED, Flow.BLOCKED), custom="clipped")

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (clipped,)))) == []


def test_leaves_a_stop_outside_of_it_to_its_own_rule() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    clipped = g.op(OpKind.CUSTOM, (w,), flows=(Flow.CARRIED,), custom="clipped")
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.STOP, (clipped,)),))

    assert codes(g.finish(loss=loss)) == ["WG103"]
