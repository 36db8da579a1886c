from __future__ import annotations

from dataclasses import replace

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.graph import OpKind, Pairing, Variable
from whygrad.graph.objects import Call, ObjectCalled, Trained


def called(w: Variable) -> ObjectCalled:
    return ObjectCalled(
        name="model",
        variables=(w.id,),
        calls=(Call(where=at(5), training=True),),
        penalties=("dense/kernel",),
    )


def test_fires_when_penalties_are_collected_and_never_read() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(called(w))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (w,))))

    assert found.code == "WG702"
    assert found.message == "the penalties of `model` are not in the loss: `dense/kernel`"
    assert found.primary is not None
    assert found.primary.span == at(5)


def test_silent_when_they_are_read_under_the_tape() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(called(w))
    g.event(ObjectCalled(name="model/dense", penalties_read=frozenset({g.own_tape.id})))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)))) == []


def test_fires_when_they_are_read_to_look_at_them_only() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.request(g.op(OpKind.SMOOTH, (w,)), where=at(7))
    applied = Pairing(variable=w.id, gradient_of=frozenset({w.id}), asked_at=(at(7),))
    g.update([applied])
    with g.tape() as look:
        penalty = g.op(OpKind.SMOOTH, (w,))
    g.request(penalty, tape=look, where=at(9))
    g.event(replace(called(w), penalties_read=frozenset({look.id})))

    assert codes(g.finish()) == ["WG702"]


def test_fires_when_only_those_of_another_model_are_read() -> None:
    g = GraphBuilder()
    w, other = g.variable("w"), g.variable("other")
    g.event(called(w))
    g.event(ObjectCalled(name="other", variables=(other.id,), penalties_read=frozenset({g.own_tape.id})))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, other)))) == ["WG702"]


def test_silent_when_they_are_read_of_a_model_around_it() -> None:
    g = GraphBuilder()
    w, other = g.variable("w"), g.variable("other")
    g.event(called(w))
    g.event(ObjectCalled(name="whole", variables=(w.id, other.id), penalties_read=frozenset({g.own_tape.id})))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, other)))) == []


def test_silent_when_the_model_has_none() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(replace(called(w), penalties=()))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)))) == []


def test_silent_when_the_model_is_not_the_one_that_is_trained() -> None:
    g = GraphBuilder()
    teacher, student = g.variable("teacher"), g.variable("student")
    g.event(called(teacher))
    loss = g.op(OpKind.SMOOTH, (student, g.op(OpKind.STOP, (teacher,))))

    assert codes(g.finish(loss=loss, sources=[student])) == []


def own_loss(w: Variable, model: str) -> Trained:
    return Trained(model=model, where=at(20), trainable=(w.id,), frozen=(), own_loss=at(11))


def test_fires_when_a_model_that_is_fitted_computes_its_loss_without_them() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(replace(called(w), calls=()))
    g.event(own_loss(w, "model"))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (w,))))

    assert found.code == "WG702"
    assert found.primary is not None
    assert found.primary.span == at(11)


def test_silent_when_the_framework_computes_the_loss() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(replace(called(w), calls=()))
    g.event(own_loss(w, "another"))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)))) == []


def test_silent_when_the_model_is_called_outside_of_the_tape_only() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(replace(called(w), calls=(Call(where=at(5), taped=False),)))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)))) == []
