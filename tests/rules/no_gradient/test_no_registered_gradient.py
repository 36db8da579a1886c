from __future__ import annotations

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.graph import Flow, OpKind

RAISED = "LookupError: gradient registry has no entry for: AdjustContrastv2"


def test_fires_when_the_request_raised_on_the_way() -> None:
    g = GraphBuilder()
    w = g.variable("image")
    cut = g.op(OpKind.OTHER, (w,), name="AdjustContrastv2", flows=(Flow.UNREGISTERED,), where=at(3))
    found = one(g.finish(loss=g.op(OpKind.REDUCE, (cut,)), error=RAISED))

    assert found.code == "WG102"
    assert found.message == "no gradient reaches `image`: TensorFlow has no gradient for `AdjustContrastv2`"
    assert found.primary is not None
    assert found.primary.span == at(3)


def test_silent_when_the_op_is_beside_the_path() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.op(OpKind.OTHER, (w,), flows=(Flow.UNREGISTERED,))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)))) == []


def test_silent_when_only_data_goes_through_the_op() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    data = g.op(OpKind.OTHER, (g.constant(),), flows=(Flow.UNREGISTERED,))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, data)))) == []


def test_silent_when_the_request_raised_for_another_reason() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    cut = g.op(OpKind.OTHER, (w,), flows=(Flow.UNREGISTERED,))

    assert codes(g.finish(loss=g.op(OpKind.REDUCE, (cut,)), error="InvalidArgumentError: shapes")) == []
