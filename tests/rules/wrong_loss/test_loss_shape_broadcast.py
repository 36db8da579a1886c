from __future__ import annotations

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.diagnostics import Severity
from whygrad.graph import Action, OpKind, Tensor

Shape = tuple[int | None, ...]


def difference(g: GraphBuilder, prediction: Shape, target: Shape, *, action: Action = Action.SUBTRACT) -> Tensor:
    left = g.op(OpKind.CONTRACT, (g.variable("w"),), shape=prediction)
    return g.op(OpKind.ELEMENTWISE, (left, g.constant(shape=target)), action=action, where=at(5))


@pytest.mark.parametrize("action", [Action.SUBTRACT, Action.SQUARED_DIFFERENCE])
@pytest.mark.parametrize(("prediction", "target"), [((8, 1), (8,)), ((8,), (8, 1))])
def test_fires_when_column_meets_row(action: Action, prediction: Shape, target: Shape) -> None:
    g = GraphBuilder()
    found = one(g.finish(loss=g.op(OpKind.REDUCE, (difference(g, prediction, target, action=action),))))

    assert (found.code, found.severity, found.certain) == ("WG703", Severity.WARNING, False)
    assert found.message == (
        f"prediction and target likely broadcast against each other: {prediction} and {target} give (8, 8)"
    )
    assert found.primary is not None
    assert found.primary.span == at(5)


def test_fires_when_the_size_of_the_batch_is_not_known() -> None:
    g = GraphBuilder()
    found = one(g.finish(loss=g.op(OpKind.REDUCE, (difference(g, (None, 1), (None,)),))))

    assert found.message.endswith("(N, 1) and (N,) give (N, N)")


def test_fires_when_scores_have_more_axes_than_labels() -> None:
    g = GraphBuilder()
    found = one(g.finish(loss=g.op(OpKind.REDUCE, (difference(g, (None, 1, 1, 1), (None, 1)),))))

    assert found.message.endswith("(N, 1, 1, 1) and (N, 1) give (N, 1, N, 1)")


def table_of_pairs(g: GraphBuilder, target: Shape, *, action: Action = Action.ADD) -> Tensor:
    """(8,) and (8, 1) of one network, and what comes of it beside a target."""
    row, column = (g.op(OpKind.CONTRACT, (g.variable("w"),), shape=shape) for shape in ((8,), (8, 1)))
    table = g.op(OpKind.ELEMENTWISE, (row, column), action=action, shape=(8, 8), where=at(4))
    return g.op(
        OpKind.ELEMENTWISE, (table, g.constant(shape=target)), action=Action.SUBTRACT, shape=(8, 8), where=at(5)
    )


@pytest.mark.parametrize("target", [(8,), (8, 1)])
def test_fires_where_a_sum_of_all_pairs_meets_one_target_for_each_example(target: Shape) -> None:
    g = GraphBuilder()
    found = one(g.finish(loss=g.op(OpKind.REDUCE, (table_of_pairs(g, target),))))

    assert found.message == "values of the examples likely broadcast against each other: (8,) and (8, 1) give (8, 8)"
    assert found.primary is not None
    assert (found.primary.span, found.primary.text) == (at(4), "(8,) against (8, 1) adds up every pair")


def test_silent_where_a_sum_of_all_pairs_meets_a_target_for_each_pair() -> None:
    g = GraphBuilder()

    assert codes(g.finish(loss=g.op(OpKind.REDUCE, (table_of_pairs(g, (8, 8)),)))) == []


@pytest.mark.parametrize(
    ("prediction", "target"),
    [
        ((8, 1, 3), (8, 3)),  # distances of all pairs
        ((8, 4, 4, 1), (8, 1, 1, 1)),  # a label for every patch
        ((8, 1), (8, 1)),  # the same
        ((8,), (8,)),
        ((8, 1), ()),  # a single number
        ((8, 3), (3,)),  # a row for all
        ((8, 1), (1,)),
        ((1, 1), (1,)),  # one example
    ],
)
def test_silent_when_the_shapes_are_meant(prediction: Shape, target: Shape) -> None:
    g = GraphBuilder()

    assert codes(g.finish(loss=g.op(OpKind.REDUCE, (difference(g, prediction, target),)))) == []


def test_silent_when_both_sides_are_trained() -> None:
    g = GraphBuilder()
    left = g.op(OpKind.CONTRACT, (g.variable("a"),), shape=(8, 1))
    right = g.op(OpKind.CONTRACT, (g.variable("b"),), shape=(8,))
    pairs = g.op(OpKind.ELEMENTWISE, (left, right), action=Action.SUBTRACT, where=at(5))

    assert codes(g.finish(loss=g.op(OpKind.REDUCE, (pairs,)))) == []


def test_fires_when_the_target_is_a_network_that_is_not_trained_here() -> None:
    g = GraphBuilder()
    with g.outside():
        target = g.op(OpKind.CONTRACT, (g.variable("old"),), shape=(8, 1))
    trained = g.variable("w")
    answer = g.op(OpKind.CONTRACT, (trained,), shape=(8,))
    pairs = g.op(OpKind.ELEMENTWISE, (target, answer), action=Action.SUBTRACT, where=at(5))

    assert codes(g.finish(loss=g.op(OpKind.REDUCE, (pairs,)), sources=[trained])) == ["WG703"]


def test_silent_when_the_pairs_go_into_a_product() -> None:
    g = GraphBuilder()
    attended = g.op(OpKind.CONTRACT, (difference(g, (8, 1), (8,)),))

    assert codes(g.finish(loss=g.op(OpKind.REDUCE, (attended,)))) == []


def test_silent_when_the_difference_is_a_metric() -> None:
    g = GraphBuilder()
    g.op(OpKind.REDUCE, (difference(g, (8, 1), (8,)),))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (g.variable("v"),)), sources=[])) == []


def weighed(g: GraphBuilder, column: Tensor, row: Tensor, action: Action = Action.MULTIPLY) -> Tensor:
    return g.op(OpKind.ELEMENTWISE, (column, row), action=action, where=at(5))


@pytest.mark.parametrize("action", [Action.MULTIPLY, Action.DIVIDE])
@pytest.mark.parametrize("size", [8, None])
def test_fires_when_a_column_of_weights_meets_a_row_of_losses(action: Action, size: int | None) -> None:
    g = GraphBuilder()
    losses = g.op(OpKind.CONTRACT, (g.variable("w"),), shape=(size,))
    found = one(g.finish(loss=g.op(OpKind.REDUCE, (weighed(g, g.constant(shape=(size, 1)), losses, action),))))

    assert (found.code, found.severity) == ("WG703", Severity.WARNING)
    assert found.message.startswith("values of the examples likely broadcast against each other")
    assert found.primary is not None
    assert found.primary.span == at(5)


def test_fires_when_two_networks_give_a_column_and_a_row() -> None:
    g = GraphBuilder()
    column = g.op(OpKind.CONTRACT, (g.variable("critic"),), shape=(8, 1))
    row = g.op(OpKind.CONTRACT, (g.variable("actor"),), shape=(8,))

    assert codes(g.finish(loss=g.op(OpKind.REDUCE, (weighed(g, column, row),)))) == ["WG703"]


def test_silent_when_the_column_was_made_of_a_row_on_purpose() -> None:
    g = GraphBuilder()
    row = g.op(OpKind.CONTRACT, (g.variable("w"),), shape=(8,))
    column = g.op(OpKind.MOVE, (row,), action=Action.RESHAPE, shape=(8, 1))
    column = g.op(OpKind.SMOOTH, (column,), shape=(8, 1))

    assert codes(g.finish(loss=g.op(OpKind.REDUCE, (weighed(g, column, row),)))) == []


@pytest.mark.parametrize(("own", "said"), [(True, ["WG703"]), (False, [])], ids=["a column", "made into one, too"])
def test_a_row_that_was_made_into_a_column_to_fit_a_networks_own_does_not_mean_all_pairs(
    own: bool, said: list[str]
) -> None:
    g = GraphBuilder()
    chosen = g.op(OpKind.CONTRACT, (g.variable("w"),), shape=(8, 1) if own else (8,))
    chosen = chosen if own else g.op(OpKind.MOVE, (chosen,), action=Action.RESHAPE, shape=(8, 1))
    goal = g.op(OpKind.MOVE, (g.constant(shape=(8,)),), action=Action.RESHAPE, shape=(8, 1))
    error = g.op(OpKind.ELEMENTWISE, (goal, chosen), action=Action.SUBTRACT, shape=(8, 1))
    weights = g.constant(shape=(8,))

    assert codes(g.finish(loss=g.op(OpKind.REDUCE, (weighed(g, error, weights),)))) == said


def test_silent_when_a_bare_parameter_meets_a_column() -> None:
    g = GraphBuilder()
    frequencies = g.variable("frequencies", shape=(8,))
    waves = g.op(OpKind.ELEMENTWISE, (g.constant(shape=(8, 1)), frequencies), action=Action.MULTIPLY, where=at(5))

    assert codes(g.finish(loss=g.op(OpKind.REDUCE, (waves,)))) == []


def test_silent_when_a_column_and_a_row_are_only_added_up() -> None:
    g = GraphBuilder()
    losses = g.op(OpKind.CONTRACT, (g.variable("w"),), shape=(8,))

    assert codes(g.finish(loss=g.op(OpKind.REDUCE, (weighed(g, g.constant(shape=(8, 1)), losses, Action.ADD),)))) == []


@pytest.mark.parametrize(
    ("weights", "fires"), [((8, 4), True), ((5, 4), False), ((), False)], ids=["examples", "others", "one number"]
)
def test_weights_of_examples_that_meet_their_mean_weigh_nothing(weights: Shape, fires: bool) -> None:
    g = GraphBuilder()
    losses = g.op(OpKind.CONTRACT, (g.variable("w"),), shape=(8, 4))
    mean = g.op(OpKind.DIVIDE, (g.op(OpKind.REDUCE, (losses,), shape=()), g.constant(shape=())), shape=())
    mask = g.constant(shape=weights)
    weighed = g.op(OpKind.ELEMENTWISE, (mean, mask), action=Action.MULTIPLY, shape=weights, where=at(5))
    recording = g.finish(loss=g.op(OpKind.REDUCE, (weighed,), shape=()))

    assert codes(recording) == (["WG703"] if fires else [])
    if fires:
        assert "a loss that is one number already" in one(recording).message


def test_weights_of_examples_that_meet_their_losses_are_right() -> None:
    g = GraphBuilder()
    losses = g.op(OpKind.CONTRACT, (g.variable("w"),), shape=(8, 4))
    weighed = g.op(OpKind.ELEMENTWISE, (losses, g.constant(shape=(8, 4))), action=Action.MULTIPLY, shape=(8, 4))

    assert codes(g.finish(loss=g.op(OpKind.REDUCE, (weighed,), shape=()))) == []
