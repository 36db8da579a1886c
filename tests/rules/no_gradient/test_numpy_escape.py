from __future__ import annotations

from pathlib import Path

from graph_builder import GraphBuilder
from rules.diagnosis import Script, at, codes, one
from whygrad.diagnostics import Severity
from whygrad.graph import Departure, Flow, OpKind


def test_fires_as_likely_when_the_way_back_is_inferred(tmp_path: Path) -> None:
    script = Script(tmp_path, "total = np.sum(scaled.numpy())")
    g = GraphBuilder()
    w = g.variable("w")
    scaled = g.op(OpKind.SMOOTH, (w,))
    total = g.op(OpKind.FOREIGN, (scaled,), name=".numpy()", where=script["scaled.numpy()"], inferred=True)
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (total,))))

    assert found.code == "WG104"
    assert (found.severity, found.certain) == (Severity.WARNING, False)
    assert found.message == "no gradient reaches `w`: likely because the value leaves TensorFlow on its way to the loss"
    assert found.help == "leave out `.numpy()`, and compute with TensorFlow ops instead of NumPy's: `scaled`"


def test_fires_as_certain_when_an_op_of_the_framework_did_it() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    total = g.op(OpKind.FOREIGN, (w,), where=at(2))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (total,))))

    assert (found.code, found.severity, found.certain) == ("WG104", Severity.ERROR, True)
    assert "likely" not in found.message


def test_fires_rather_than_outside_tape_when_moving_the_op_would_not_help() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    with g.outside():
        before = g.op(OpKind.SMOOTH, (w,), where=at(2))
    back = g.op(OpKind.FOREIGN, (before,), where=at(3))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (back,))))

    assert found.code == "WG104"
    assert found.primary is not None
    assert found.primary.span == at(3)


def test_fires_when_the_body_of_a_python_function_leaves_the_framework() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    result = g.op(OpKind.FOREIGN, (w,), name="EagerPyFunc", flows=(Flow.CARRIED,), where=at(8))
    g.event(Departure(function="score", how=".numpy()", where=at(3)))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (result,))))

    assert found.code == "WG104"
    assert found.primary is not None
    assert found.primary.span == at(3)


def test_silent_when_the_python_function_stays_in_the_framework() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    result = g.op(OpKind.FOREIGN, (w,), name="EagerPyFunc", flows=(Flow.CARRIED,), where=at(8))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (result,)))) == []


def test_silent_when_a_python_function_with_a_foreign_body_is_beside_an_open_path() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    result = g.op(OpKind.FOREIGN, (w,), name="EagerPyFunc", flows=(Flow.CARRIED,), where=at(8))
    g.event(Departure(function="score", how=".numpy()", where=at(3)))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, result)))) == []


def test_silent_when_only_a_metric_leaves() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.op(OpKind.FOREIGN, (w,), where=at(2))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)))) == []


def test_silent_when_what_leaves_depends_on_no_variable_that_is_asked_for() -> None:
    g = GraphBuilder()
    w, old = g.variable("w"), g.variable("old")
    advantage = g.op(OpKind.FOREIGN, (old,), where=at(2))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, advantage)), sources=[w])) == []
