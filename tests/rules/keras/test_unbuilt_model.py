from __future__ import annotations

from dataclasses import replace

from rules.diagnosis import at, codes, notes, one
from whygrad.graph import Failure, OpKind
from whygrad.graph.build import GraphBuilder
from whygrad.graph.event import UnbuiltRead

READ = UnbuiltRead(model="model", attribute="trainable_variables", where=at(3), length=0, length_later=2, used=True)


def test_fires_when_the_short_list_was_used() -> None:
    g = GraphBuilder()
    g.event(READ)
    found = one(g.finish())

    assert found.code == "WG202"
    assert found.message == (
        "`model.trainable_variables` was read before the model was built: it had 0 variables then and has 2 now"
    )
    assert found.primary is not None
    assert (found.primary.span, found.primary.text) == (at(3), "0 of 2 variables")


def test_fires_when_the_run_failed_afterwards() -> None:
    g = GraphBuilder()
    g.event(replace(READ, used=False))
    failure = Failure(type_name="ValueError", message="No gradients provided for any variable.")

    assert codes(g.finish(failure=failure)) == ["WG202"]


def test_fires_when_the_loss_uses_the_model_and_nobody_asks_for_it() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(replace(READ, used=False, variables=(w.id,)))

    assert "WG202" in codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)), sources=[]))


def test_only_a_note_when_the_list_did_no_harm() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(replace(READ, used=False, variables=(w.id,)))
    recording = g.finish(loss=g.op(OpKind.SMOOTH, (w,)))

    assert (codes(recording), notes(recording)) == ([], ["WG202"])


def test_silent_when_the_list_was_complete() -> None:
    g = GraphBuilder()
    g.event(replace(READ, length=2))

    assert codes(g.finish()) == []


def test_silent_when_the_model_never_got_variables() -> None:
    g = GraphBuilder()
    g.event(replace(READ, length_later=0))

    assert codes(g.finish()) == []


def test_only_a_note_when_the_model_is_used_outside_the_tape_only() -> None:
    g = GraphBuilder()
    w, other = g.variable("w"), g.variable("other")
    g.event(replace(READ, used=False, variables=(w.id,)))
    with g.outside():
        g.op(OpKind.SMOOTH, (w,))
    recording = g.finish(loss=g.op(OpKind.SMOOTH, (other,)), sources=[other])

    assert (codes(recording), notes(recording)) == ([], ["WG202"])
