from __future__ import annotations

from dataclasses import replace

from rules.diagnosis import at, codes, one
from whygrad.graph import OpKind, Variable
from whygrad.graph.build import GraphBuilder
from whygrad.graph.event import LayerCalled


def called(w: Variable) -> LayerCalled:
    return LayerCalled(
        layer="model",
        where=at(5),
        training_given=True,
        training_omitted=False,
        mode_dependent=(),
        penalties=("dense/kernel",),
        penalties_read=False,
        variables=(w.id,),
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
    g.event(replace(called(w), penalties_read=True))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)))) == []


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
