from __future__ import annotations

from pathlib import Path

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import Script, at, codes, loud, notes, one
from whygrad.diagnostics import FixSafety
from whygrad.graph import Action, OpKind
from whygrad.rules.no_gradient.stop_gradient import stop_gradient


def test_fires_when_the_only_path_is_stopped(tmp_path: Path) -> None:
    script = Script(tmp_path, "loss = tf.square(tf.stop_gradient(x) * y)")
    g = GraphBuilder()
    x, y = g.variable("x"), g.variable("y")
    stopped = g.op(OpKind.STOP, (x,), where=script["tf.stop_gradient(x)"])
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (stopped, y))))

    assert found.code == "WG103"
    assert found.message == "no gradient reaches `x`: every path to the loss goes through a `stop_gradient`"
    assert found.help == "take `tf.stop_gradient(x)` out of the path, or do not ask for this gradient"
    assert found.primary is not None
    assert found.primary.span == script["tf.stop_gradient(x)"]


def test_fires_when_the_stop_ran_before_the_tape_was_entered() -> None:
    g = GraphBuilder()
    x = g.variable("x")
    inside = g.op(OpKind.SMOOTH, (x,))
    with g.outside():
        stopped = g.op(OpKind.STOP, (inside,))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (stopped,)))) == ["WG103"]


def test_silent_when_the_value_goes_straight_through() -> None:
    g = GraphBuilder()
    x = g.variable("x")
    rounded = g.op(OpKind.ROUND, (x,))
    correction = g.op(OpKind.STOP, (g.op(OpKind.ELEMENTWISE, (rounded, x)),))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (x, correction)))) == []


def test_silent_when_the_stopped_network_is_not_asked_for() -> None:
    g = GraphBuilder()
    online, target = g.variable("online"), g.variable("target")
    backup = g.op(OpKind.STOP, (target,))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (online, backup)), sources=[online])) == []


def test_only_a_note_when_another_loss_trains_what_is_stopped_here() -> None:
    g = GraphBuilder()
    encoder, head = g.variable("encoder"), g.variable("head")
    g.request(g.op(OpKind.SMOOTH, (g.op(OpKind.STOP, (encoder,), where=at(2)), head)), where=at(3))
    g.request(g.op(OpKind.SMOOTH, (encoder,)), [encoder], where=at(4))
    g.update([(encoder, encoder), (head, head)])
    recording = g.finish()

    assert (codes(recording), notes(recording)) == ([], ["WG103"])


def test_fires_when_the_other_request_never_moves_the_variable() -> None:
    g = GraphBuilder()
    encoder, head = g.variable("encoder"), g.variable("head")
    g.request(g.op(OpKind.SMOOTH, (g.op(OpKind.STOP, (encoder,), where=at(2)), head)), where=at(3))
    g.request(g.op(OpKind.SMOOTH, (encoder,)), [encoder], where=at(4))
    g.update([(head, head)])

    assert codes(g.finish()) == ["WG103"]


def test_fires_when_a_loop_gives_zeros_in_place_of_none() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    stopped = g.op(OpKind.STOP, (w,), branched=True, where=at(3))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (stopped,)), missing=[], zero=[w])) == ["WG103"]


def test_silent_when_a_gradient_gets_around_the_stop_inside_a_loop() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    stopped = g.op(OpKind.STOP, (w,), branched=True, where=at(3))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (stopped, w)))) == []


def test_both_what_a_loop_zeroes_and_what_is_missing_are_told() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    inside = g.op(OpKind.STOP, (a,), branched=True, where=at(3))
    outside = g.op(OpKind.STOP, (b,), where=at(6))
    recording = g.finish(loss=g.op(OpKind.SMOOTH, (inside, outside)), missing=[b], zero=[a])

    assert [found.variables for found in loud(recording)] == [("a",), ("b",)]


@pytest.mark.parametrize(("shared", "safety"), [(True, FixSafety.DISPLAY_ONLY), (False, FixSafety.UNSAFE)])
def test_its_fix_is_only_shown_where_one_of_two_sides_has_to_be_stopped(
    tmp_path: Path, shared: bool, safety: FixSafety
) -> None:
    script = Script(tmp_path, "loss = tf.square(tf.stop_gradient(p) - z)")
    g = GraphBuilder()
    head, encoder, other = g.variable("head"), g.variable("encoder"), g.variable("other")
    p = g.op(OpKind.SMOOTH, (g.op(OpKind.SMOOTH, (encoder,)), head))
    z = g.op(OpKind.SMOOTH, (encoder if shared else other,))
    stopped = g.op(OpKind.STOP, (p,), where=script["tf.stop_gradient(p)"])
    difference = g.op(OpKind.ELEMENTWISE, (stopped, z), action=Action.SUBTRACT)
    recording = g.finish(loss=g.op(OpKind.SMOOTH, (difference,)))

    found = [fix for finding in stop_gradient(recording) for fix in finding.fixes()]

    assert [fix.safety for fix in found] == [safety]
