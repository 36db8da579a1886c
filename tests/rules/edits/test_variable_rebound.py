from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import Script, at, codes, one
from whygrad.graph import OpKind
from whygrad.graph.event import VariableStep
from whygrad.graph.ledger import Ledger, Stretch, Write, WriterKind
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


@pytest.mark.parametrize(
    ("statement", "code"), [("self.rate = clip(self.rate)", "WG602"), ("self.shown = clip(self.rate)", "WG105")]
)
def test_fires_when_an_attribute_of_a_plain_object_takes_what_was_made_of_it(
    tmp_path: Path, statement: str, code: str
) -> None:
    script = Script(tmp_path, statement)
    g = GraphBuilder()
    with g.outside():
        tensor = g.op(OpKind.ELEMENTWISE, (g.variable("rate"),), where=script["clip(self.rate)"])
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (tensor,))))

    assert found.code == code
    assert found.primary is not None
    assert found.primary.span == script["clip(self.rate)"]


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


def rebound_at(step: int, *, last: int, asked: bool = True, trainable: bool = True) -> list[str]:
    """An attribute is rebound at one step; an optimizer updates the variable until another."""
    g = GraphBuilder()
    kernel, used = g.variable("kernel", trainable=trainable), g.variable("used")
    g.event(AttributeSet(owner="net", attribute="kernel", given=Given.TENSOR, held=kernel.id, where=at(4), step=step))
    loss = g.op(OpKind.SMOOTH, (kernel, used))
    g.request(loss, [kernel, used] if asked else [used])
    write = Write(
        variable=kernel.id, kind=WriterKind.OPTIMIZER, writer="sgd", method="assign", steps=(Stretch(1, last),)
    )
    return codes(replace(g.finish(), ledger=Ledger(variables={kernel.id: "kernel"}, writes=(write,), steps=9)))


def test_fires_when_a_variable_that_was_trained_is_updated_no_more() -> None:
    assert rebound_at(5, last=5) == ["WG602"]


def test_silent_when_the_variable_is_put_back_and_trained_on() -> None:
    assert rebound_at(5, last=9) == []


def test_fires_when_a_count_that_nobody_trains_is_rebound() -> None:
    assert rebound_at(0, last=0, asked=False, trainable=False) == ["WG602"]


def test_silent_when_nobody_asks_for_the_gradient_of_the_variable() -> None:
    assert rebound_at(0, last=0, asked=False) == []


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


LOOP = """
for v, g in zip(variables, gradients):
    v = v - rate * g
"""


def test_fires_once_when_the_steps_of_several_variables_are_thrown_away(tmp_path: Path) -> None:
    step = Script(tmp_path, LOOP)["v - rate * g"]
    g = GraphBuilder()
    w, b = g.variable("w"), g.variable("b")
    for variable in (w, b):
        g.event(VariableStep(variable=variable.id, where=step, seen=5, unused=True))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (w, b))))

    assert found.code == "WG602"
    assert found.variables == ("w", "b")
    assert found.primary is not None
    assert found.primary.span == step


@pytest.mark.parametrize(
    ("line", "step", "facts", "fires"),
    [
        ("w = w - rate * g", "w - rate * g", {"seen": 1}, False),
        ("w = w - rate * g", "w - rate * g", {"seen": 1, "compiled": True}, True),
        ("w = w - rate * g", "w - rate * g", {"seen": 5, "unused": False}, False),
        ("ahead = w - rate * g", "w - rate * g", {"seen": 5}, False),
    ],
)
def test_a_step_that_nothing_uses_is_thrown_away_if_it_is_bound_to_what_it_was_made_of_and_comes_again(
    tmp_path: Path, line: str, step: str, facts: dict[str, Any], fires: bool
) -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(VariableStep(variable=w.id, where=Script(tmp_path, line)[step], **{"unused": True, **facts}))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)))) == (["WG602"] if fires else [])


@pytest.mark.parametrize(("after", "fires"), [("", True), ("    use(v)\n", False)])
def test_a_name_that_held_a_variable_is_forgotten_if_nobody_reads_it(tmp_path: Path, after: str, fires: bool) -> None:
    step = Script(tmp_path, LOOP + after)["v - rate * g"]
    g = GraphBuilder()
    w = g.variable("w")
    g.event(VariableStep(variable=w.id, where=step, bound_to="v"))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)))) == (["WG602"] if fires else [])


def test_silent_when_a_step_is_thrown_away_but_the_variable_is_updated_elsewhere(tmp_path: Path) -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(VariableStep(variable=w.id, where=Script(tmp_path, LOOP)["v - rate * g"], seen=5, unused=True))
    g.update([(w, w)])

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)))) == []
