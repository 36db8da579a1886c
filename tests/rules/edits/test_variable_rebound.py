from __future__ import annotations

from pathlib import Path

from graph_builder import GraphBuilder
from rules.diagnosis import Script, at, codes, one
from whygrad.graph import OpKind
from whygrad.graph.event import UpdateDiscarded
from whygrad.graph.objects import AttributeSet, Given


def test_fires_when_the_name_holds_a_tensor_the_second_time(tmp_path: Path) -> None:
    script = Script(
        tmp_path,
        """
        slope = tape.gradient(loss, w)
        w = w - rate * slope
        """,
    )
    g = GraphBuilder()
    w = g.variable("w")
    g.request(g.op(OpKind.SMOOTH, (w,)), [w], where=script["tape.gradient(loss, w)"])
    with g.outside():
        tensor = g.op(OpKind.ELEMENTWISE, (w,), where=script["w - rate * slope"])
    loss = g.op(OpKind.SMOOTH, (tensor,))
    g.request(loss, [tensor], missing=[tensor], where=script["tape.gradient(loss, w)"])
    found = one(g.finish())

    assert found.code == "WG602"
    assert found.message == (
        "`w` no longer holds the variable: it was rebound to a tensor, and the tape does not watch that"
    )
    assert found.primary is not None
    assert found.primary.span == script["w - rate * slope"]
    assert [label.span for label in found.related] == [script["tape.gradient(loss, w)"]]


def test_fires_when_an_attribute_of_a_layer_is_rebound() -> None:
    g = GraphBuilder()
    kernel = g.variable("kernel")
    used = g.variable("used")
    g.event(AttributeSet(owner="dense", attribute="kernel", given=Given.TENSOR, held=kernel.id, where=at(4)))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (used,)), sources=[kernel, used]))

    assert found.code == "WG602"
    assert found.message == "`dense.kernel` no longer holds its variable `kernel`: it was rebound to a tensor"
    assert found.primary is not None
    assert found.primary.span == at(4)


def test_silent_when_a_tensor_is_put_where_no_variable_was() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(AttributeSet(owner="dense", attribute="state", given=Given.TENSOR, where=at(4)))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)))) == []


def test_leaves_an_unwatched_tensor_at_another_place_to_its_own_rule() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.request(g.op(OpKind.SMOOTH, (w,)), [w], where=at(5))
    x = g.constant()
    g.request(g.op(OpKind.SMOOTH, (x,)), [x], missing=[x], where=at(6))

    assert codes(g.finish()) == ["WG108"]


def test_leaves_a_request_with_another_number_of_sources_to_its_own_rule() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    g.request(g.op(OpKind.SMOOTH, (a, b)), [a, b], where=at(5))
    x = g.constant()
    g.request(g.op(OpKind.SMOOTH, (x,)), [x], missing=[x], where=at(5))

    assert codes(g.finish()) == ["WG108"]


def test_leaves_a_tensor_that_came_first_to_its_own_rule() -> None:
    g = GraphBuilder()
    w, x = g.variable("w"), g.constant()
    g.request(g.op(OpKind.SMOOTH, (x,)), [x], missing=[x], where=at(5))
    g.request(g.op(OpKind.SMOOTH, (w,)), [w], where=at(5))

    assert codes(g.finish()) == ["WG108"]


def test_silent_when_the_variable_is_changed_in_place() -> None:
    g = GraphBuilder()
    w = g.variable("w", writes=2)
    for _ in range(2):
        g.request(g.op(OpKind.SMOOTH, (w,)), [w], where=at(5))
        with g.outside():
            g.write(w, g.op(OpKind.ELEMENTWISE, (w,)))

    assert codes(g.finish()) == []


def test_silent_when_the_tensor_is_watched_and_has_its_gradient() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.request(g.op(OpKind.SMOOTH, (w,)), [w], where=at(5))
    x = g.constant()
    g.watch(x)
    g.request(g.op(OpKind.SMOOTH, (x,)), [x], where=at(5))

    assert codes(g.finish()) == []


def test_fires_once_when_the_steps_of_several_variables_are_thrown_away() -> None:
    g = GraphBuilder()
    w, b = g.variable("w"), g.variable("b")
    for variable in (w, b):
        g.event(UpdateDiscarded(variable=variable.id, where=at(7), seen=5))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (w, b))))

    assert found.code == "WG602"
    assert found.variables == ("w", "b")
    assert found.primary is not None
    assert found.primary.span == at(7)


def test_silent_when_a_step_is_thrown_away_but_the_variable_is_updated_elsewhere() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(UpdateDiscarded(variable=w.id, where=at(7), seen=5))
    g.update([(w, w)])

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)))) == []
