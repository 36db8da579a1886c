from __future__ import annotations

from graph_builder import GraphBuilder
from rules.diagnosis import at
from whygrad.graph import OpKind, Pairing
from whygrad.graph.questions.untrained import training_requests, untrained


def test_a_weight_that_a_loss_uses_and_no_request_asks_for_is_untrained() -> None:
    g = GraphBuilder()
    x, kernel, bias = g.constant(), g.variable("kernel"), g.variable("bias")
    g.request(g.op(OpKind.SMOOTH, (g.op(OpKind.CONTRACT, (x, kernel)), bias)), [kernel])
    g.update([(kernel, kernel)])

    assert [variable.name for variable in untrained(g.finish())] == ["bias"]


def test_a_weight_of_another_request_is_trained() -> None:
    g = GraphBuilder()
    x, generator, critic = g.constant(), g.variable("generator"), g.variable("critic")
    score = g.op(OpKind.CONTRACT, (g.op(OpKind.CONTRACT, (x, generator)), critic))
    for each in (generator, critic):
        g.request(score, [each])
        g.update([(each, each)])

    assert not untrained(g.finish())


def test_frozen_weights_and_those_behind_a_cut_are_no_weights_of_the_training() -> None:
    g = GraphBuilder()
    x, kernel = g.constant(), g.variable("kernel")
    frozen, cut = g.variable("frozen", trainable=False), g.variable("cut")
    passed = g.op(OpKind.CONTRACT, (g.op(OpKind.CONTRACT, (x, frozen)), kernel))
    g.request(g.op(OpKind.SMOOTH, (passed, g.op(OpKind.STOP, (cut,)))), [kernel])
    g.update([(kernel, kernel)])

    assert not untrained(g.finish())


def test_a_request_trains_if_its_gradient_is_applied_or_if_it_is_not_known_whose_is() -> None:
    g = GraphBuilder()
    w, own = g.variable("w"), g.variable("own", writes=3)
    loss = g.op(OpKind.SMOOTH, (w, own))
    step = g.request(loss, [w], where=at(5))
    g.request(loss, [w], where=at(9))
    by_hand = g.request(loss, [own], where=at(11))
    g.update([Pairing(variable=w.id, gradient_of=frozenset({w.id}), asked_at=(at(5),))])

    assert training_requests(g.finish()) == [step, by_hand]
