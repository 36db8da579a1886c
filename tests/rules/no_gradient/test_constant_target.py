from __future__ import annotations

from pathlib import Path

from graph_builder import GraphBuilder
from rules.diagnosis import Script, at, codes, one
from whygrad.graph import OpKind


def test_fires_when_the_target_is_made_of_constants(tmp_path: Path) -> None:
    script = Script(
        tmp_path,
        """
        loss = tf.square(tf.constant(6.0) - 1.0)
        gradients = tape.gradient(loss, [w])
        """,
    )
    g = GraphBuilder()
    w = g.variable("w")
    g.op(OpKind.SMOOTH, (w,))
    loss = g.op(OpKind.SMOOTH, (g.constant(),), where=script["tf.square(tf.constant(6.0) - 1.0)"])
    found = one(g.finish(loss=loss, where=script["tape.gradient(loss, [w])"]))

    assert found.code == "WG111"
    assert found.message == "`loss` is a constant: it depends on no variable and on nothing that the tape watches"
    assert found.primary is not None
    assert found.primary.span == script["tf.square(tf.constant(6.0) - 1.0)"]
    assert [label.span for label in found.related] == [script["tape.gradient(loss, [w])"]]


def test_fires_once_however_many_variables_are_asked_for() -> None:
    g = GraphBuilder()
    for number in range(4):
        g.variable(f"w{number}")

    assert len(one(g.finish(loss=g.constant(where=at(2)))).variables) == 4


def test_silent_when_the_target_depends_on_another_variable() -> None:
    g = GraphBuilder()
    other, w = g.variable("other"), g.variable("w")

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (other,)), sources=[w])) == ["WG107"]


def test_silent_when_the_target_depends_on_a_watched_tensor() -> None:
    g = GraphBuilder()
    x, w = g.constant(), g.variable("w")
    g.watch(x)

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (x,)), sources=[x, w])) == ["WG107"]


def test_silent_when_the_target_carries_a_gradient() -> None:
    g = GraphBuilder()
    w = g.variable("w")

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, g.constant())))) == []


def test_silent_when_the_value_left_the_framework_and_came_back() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    back = g.op(OpKind.FOREIGN, (w,), where=at(3))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (back,)))) == ["WG104"]
