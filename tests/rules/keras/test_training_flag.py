from __future__ import annotations

from dataclasses import replace

import pytest

from rules.diagnosis import at, codes, one
from whygrad.diagnostics import Severity
from whygrad.graph import OpKind, Variable
from whygrad.graph.build import GraphBuilder
from whygrad.graph.event import LayerCalled


def called(w: Variable) -> LayerCalled:
    return LayerCalled(
        layer="model",
        where=at(5),
        training_given=False,
        training_omitted=True,
        mode_dependent=("dropout",),
        penalties=(),
        penalties_read=False,
        variables=(w.id,),
    )


@pytest.mark.parametrize(
    ("layers", "said"),
    [(("dropout",), "`dropout` depends on"), (("dropout", "norm"), "`dropout` and `norm` depend on")],
)
def test_fires_when_the_flag_is_never_given(layers: tuple[str, ...], said: str) -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(replace(called(w), mode_dependent=layers))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (w,))))

    assert (found.code, found.severity) == ("WG705", Severity.WARNING)
    assert found.message == f"`model` is trained in inference mode: {said} `training=True`, which is not given"
    assert found.primary is not None
    assert found.primary.span == at(5)


def test_silent_when_some_call_gives_the_flag() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(replace(called(w), training_given=True))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)))) == []


def test_silent_when_no_layer_depends_on_it() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(replace(called(w), mode_dependent=()))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)))) == []


def test_silent_when_the_model_is_not_the_one_that_is_trained() -> None:
    g = GraphBuilder()
    teacher, student = g.variable("teacher"), g.variable("student")
    g.event(called(teacher))
    loss = g.op(OpKind.SMOOTH, (student, g.op(OpKind.STOP, (teacher,))))

    assert codes(g.finish(loss=loss, sources=[student])) == []


def test_silent_when_only_the_input_is_differentiated() -> None:
    g = GraphBuilder()
    w, x = g.variable("w"), g.constant()
    g.watch(x)
    g.event(called(w))

    assert codes(g.finish(loss=g.op(OpKind.CONTRACT, (w, x)), sources=[x])) == []


def test_fires_when_a_function_says_no_for_a_step_that_does_not_know() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(replace(called(w), training_given=True, refused=at(5), refused_for=at(9)))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (w,))))

    assert (found.code, found.certain) == ("WG705", False)
    assert found.primary is not None
    assert found.primary.span == at(5)
    assert [label.span for label in found.related] == [at(9)]


def test_silent_when_a_function_says_no_for_a_model_that_is_not_trained() -> None:
    g = GraphBuilder()
    teacher, student = g.variable("teacher"), g.variable("student")
    g.event(replace(called(teacher), training_given=True, refused=at(5)))
    loss = g.op(OpKind.SMOOTH, (student, g.op(OpKind.STOP, (teacher,))))

    assert codes(g.finish(loss=loss, sources=[student])) == []
