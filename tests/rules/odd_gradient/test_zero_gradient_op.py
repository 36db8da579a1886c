from __future__ import annotations

from rules.diagnosis import at, codes, one
from whygrad.diagnostics import Severity
from whygrad.graph import Flow, OpKind
from whygrad.graph.build import GraphBuilder


def test_fires_as_certain_when_the_gradient_is_zero_by_construction() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    loss = g.op(OpKind.REDUCE, (g.op(OpKind.SIGN, (w,), name="Sign", where=at(4)),))
    found = one(g.finish(loss=loss, zero=[w], where=at(6)))

    assert (found.code, found.severity, found.certain) == ("WG301", Severity.WARNING, True)
    assert found.message == "the gradient of `w` is exactly zero: the gradient of `Sign` is zero"
    assert found.primary is not None
    assert found.primary.span == at(4)
    assert [label.span for label in found.related] == [at(6)]


def test_fires_as_likely_when_a_clip_is_saturated_in_every_step() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    loss = g.op(OpKind.REDUCE, (g.op(OpKind.CLIP, (w,), where=at(4)),))
    found = one(g.finish(loss=loss, zero=[w], seen=10))

    assert (found.code, found.certain) == ("WG301", False)
    assert "likely" in found.message
    assert found.primary is not None
    assert found.primary.span == at(4)


def test_fires_when_the_score_of_an_unstopped_sample_cancels_out() -> None:
    g = GraphBuilder()
    mean = g.variable("mean")
    noise = g.op(OpKind.NOISE, ())
    sample = g.op(OpKind.ELEMENTWISE, (mean, noise), where=at(3))
    reward = g.op(OpKind.STOP, (g.op(OpKind.SMOOTH, (sample,)),))
    score = g.op(OpKind.ELEMENTWISE, (sample, mean), where=at(5))
    loss = g.op(OpKind.REDUCE, (score, reward))

    assert codes(g.finish(loss=loss, zero=[mean], seen=10)) == ["WG301"]


def test_silent_when_another_path_carries_more_than_zero() -> None:
    g = GraphBuilder()
    w = g.variable("w")

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, g.op(OpKind.SIGN, (w,)))))) == []


def test_silent_when_zero_was_seen_once_only() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    loss = g.op(OpKind.REDUCE, (g.op(OpKind.CLIP, (w,), where=at(4)),))

    assert codes(g.finish(loss=loss, zero=[w])) == []


def test_silent_when_a_clip_lets_the_gradient_through() -> None:
    g = GraphBuilder()
    w = g.variable("w")

    assert codes(g.finish(loss=g.op(OpKind.REDUCE, (g.op(OpKind.CLIP, (w,)),)), seen=10)) == []


def test_silent_when_a_zero_has_no_suspect() -> None:
    g = GraphBuilder()
    w = g.variable("w")

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)), zero=[w], seen=10)) == []


def test_silent_when_a_way_around_the_clip_exists() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    clipped = g.op(OpKind.CLIP, (w,), where=at(4))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, clipped)), zero=[w], seen=10)) == []


def test_silent_when_the_gradient_is_missing_rather_than_zero() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    loss = g.op(OpKind.REDUCE, (g.op(OpKind.STOP, (g.op(OpKind.SIGN, (w,)),)),))

    assert codes(g.finish(loss=loss)) == ["WG103"]


def test_silent_when_data_goes_through_a_sign() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    labels = g.op(OpKind.SIGN, (g.constant(),), flows=(Flow.ZERO,))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, labels)))) == []
