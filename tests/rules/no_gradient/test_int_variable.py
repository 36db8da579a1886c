from __future__ import annotations

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.graph import OpKind, Tensor, Variable


def loss_of(g: GraphBuilder, *variables: Variable) -> Tensor:
    return g.op(OpKind.SMOOTH, [g.op(OpKind.CAST, (each,), dtype="float32") for each in variables])


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "bool"])
def test_fires_when_the_variable_holds_integers(dtype: str) -> None:
    g = GraphBuilder()
    count = g.variable("count", dtype=dtype, created=at(1))
    found = one(g.finish(loss=loss_of(g, count), where=at(5)))

    assert found.code == "WG110"
    assert found.message == f"no gradient reaches `count`: it holds integers ({dtype})"
    assert found.primary is not None
    assert found.primary.span == at(1)
    assert [label.span for label in found.related] == [at(5)]


def test_said_once_when_asked_for_at_two_places() -> None:
    g = GraphBuilder()
    count = g.variable("count", dtype="int32", created=at(1))
    g.request(loss_of(g, count), where=at(5))
    g.request(loss_of(g, count), where=at(6))
    found = one(g.finish())

    assert {label.span for label in found.related} == {at(5), at(6)}


def test_fires_for_each_of_two_variables() -> None:
    g = GraphBuilder()
    a, b = (g.variable(name, dtype="int32", created=at(line)) for line, name in enumerate("ab", 1))

    assert codes(g.finish(loss=loss_of(g, a, b))) == ["WG110", "WG110"]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_silent_when_the_variable_can_have_a_gradient(dtype: str) -> None:
    g = GraphBuilder()
    w = g.variable("w", dtype=dtype)

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)))) == []


def test_silent_when_the_counter_is_not_asked_for() -> None:
    g = GraphBuilder()
    w, count = g.variable("w"), g.variable("count", dtype="int64")
    loss = g.op(OpKind.SMOOTH, (w, g.op(OpKind.CAST, (count,), dtype="float32")))

    assert codes(g.finish(loss=loss, sources=[w])) == []


def test_silent_when_integers_only_pick_rows() -> None:
    g = GraphBuilder()
    table = g.variable("table")
    rows = g.op(OpKind.MOVE, (table, g.constant(dtype="int32")))

    assert codes(g.finish(loss=g.op(OpKind.REDUCE, (rows,)))) == []


def listed(*, trainable: bool = False, watched: bool = False, alone: bool = False) -> list[str]:
    """A weight and the state of a generator, asked for in one list."""
    g = GraphBuilder()
    w, state = g.variable("w"), g.variable("state", dtype="int64", trainable=trainable)
    if watched:
        g.watch(state)
    loss = g.op(OpKind.SMOOTH, (w, g.op(OpKind.CAST, (state,), dtype="float32")))
    return codes(g.finish(loss=loss, sources=[state] if alone else [w, state]))


def test_silent_when_what_is_not_trainable_stands_in_a_list_with_what_is() -> None:
    assert listed() == ["WG207"]


def test_fires_when_a_trainable_one_stands_in_the_list() -> None:
    assert listed(trainable=True) == ["WG110"]


def test_fires_when_what_is_not_trainable_is_asked_for_alone() -> None:
    assert listed(alone=True) == ["WG110"]


def test_fires_when_what_is_not_trainable_is_watched_by_hand() -> None:
    assert listed(watched=True) == ["WG110"]
