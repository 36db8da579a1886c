from __future__ import annotations

from pathlib import Path

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import Script, at, codes, loud, notes, one
from whygrad.graph import Flow, OpKind, Outcome


def test_fires_when_every_path_goes_through_positions(tmp_path: Path) -> None:
    script = Script(
        tmp_path,
        """
        best = tf.argmax(w)
        loss = tf.square(tf.cast(best, tf.float32))
        tape.gradient(loss, [w])
        """,
    )
    g = GraphBuilder()
    w = g.variable("w")
    best = g.op(OpKind.INDEX, (w,), name="ArgMax", where=script["tf.argmax(w)"])
    cast = g.op(OpKind.CAST, (best,), dtype="float32", where=script["tf.cast(best, tf.float32)"])
    loss = g.op(OpKind.SMOOTH, (cast,))
    found = one(g.finish(loss=loss, where=script["tape.gradient(loss, [w])"]))

    assert found.code == "WG101"
    assert found.message == (
        "no gradient reaches `w`: every path to the loss goes through `ArgMax`, "
        "which gives positions or counts, which have no derivative"
    )
    assert found.primary is not None
    assert found.primary.span == script["tf.argmax(w)"]
    assert found.variables == ("w",)
    assert found.related == ()


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        (OpKind.COMPARE, "bool"),
        (OpKind.ROUND, "float32"),
        (OpKind.CAST, "int32"),
        (OpKind.ONE_HOT, "float32"),
        (OpKind.OTHER, "int64"),
    ],
)
def test_fires_whatever_kind_of_op_has_no_derivative(kind: OpKind, dtype: str) -> None:
    g = GraphBuilder()
    w = g.variable("w")
    cut = g.op(kind, (w,), dtype=dtype, where=at(2))
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.CAST, (cut,), dtype="float32"),))

    assert codes(g.finish(loss=loss)) == ["WG101"]


def test_fires_once_for_all_variables_that_one_place_cuts() -> None:
    g = GraphBuilder()
    weights = [g.variable(f"dense/w{number}") for number in range(6)]
    hidden = g.op(OpKind.CONTRACT, weights)
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.ROUND, (hidden,), where=at(4)),))
    found = one(g.finish(loss=loss))

    assert found.message.startswith("no gradient reaches 6 variables of `dense`:")
    assert len(found.variables) == 6


def test_fires_once_for_all_steps_and_counts_them() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    for seen in (3, 4):
        loss = g.op(OpKind.SMOOTH, (g.op(OpKind.ROUND, (w,), where=at(4)),))
        g.request(loss, where=at(5), seen=seen)
    found = one(g.finish())

    assert (found.steps.seen, found.steps.of) == (7, 7)


def test_says_where_a_second_op_would_cut_again() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    first = g.op(OpKind.ROUND, (w,), where=at(4))
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.ROUND, (first,), where=at(6)),))
    found = one(g.finish(loss=loss))

    assert [label.span for label in found.related] == [at(6)]


def test_fires_for_both_of_two_cuts_side_by_side() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.ROUND, (w,), where=at(3)), g.op(OpKind.ROUND, (w,), where=at(4))))

    assert [found.primary.span for found in loud(g.finish(loss=loss)) if found.primary] == [at(3), at(4)]


def test_silent_when_another_path_carries_the_gradient() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    rounded = g.op(OpKind.ROUND, (w,), where=at(3))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, rounded)))) == []


def test_silent_about_a_cut_that_a_straight_through_path_leads_around() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    rounded = g.op(OpKind.ROUND, (w,), where=at(3))
    through = g.op(OpKind.SMOOTH, (w, rounded), where=at(4))
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.INDEX, (through,), dtype="float32", where=at(5)),))

    assert [found.primary.span for found in loud(g.finish(loss=loss)) if found.primary] == [at(5)]


def test_silent_when_the_positions_are_a_metric_only() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.op(OpKind.INDEX, (w,), where=at(3))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)))) == []


def test_silent_when_nobody_asks_for_the_variable() -> None:
    g = GraphBuilder()
    w, other = g.variable("w"), g.variable("other")
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.ROUND, (w,)), other))

    assert codes(g.finish(loss=loss, sources=[other])) == []


def test_silent_when_labels_are_integers_and_predictions_are_not() -> None:
    g = GraphBuilder()
    w, labels = g.variable("w"), g.constant(dtype="int64")
    loss = g.op(OpKind.CROSS_ENTROPY, (w, labels), flows=(Flow.CARRIED, Flow.BLOCKED))

    assert codes(g.finish(loss=loss)) == []


def test_only_a_note_when_another_loss_trains_the_variable() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.request(g.op(OpKind.SMOOTH, (g.op(OpKind.ROUND, (w,), where=at(3)),)), where=at(4))
    g.request(g.op(OpKind.SMOOTH, (w,)), where=at(5))
    g.update([(w, w)])
    recording = g.finish()

    assert codes(recording) == []
    assert notes(recording) == ["WG101"]


def test_only_a_note_when_zeros_were_asked_for_in_place_of_none() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.ROUND, (w,), where=at(3)),))
    recording = g.finish(loss=loss, zeros_accepted=True)

    assert recording.requests[0].sources[0].outcome is Outcome.MISSING
    assert (codes(recording), notes(recording)) == ([], ["WG101"])


@pytest.mark.parametrize(
    ("others", "note"),
    [
        (1, "1 other variable gets a gradient in the same call"),
        (2, "2 other variables get a gradient in the same call"),
    ],
)
def test_says_how_many_others_get_a_gradient(others: int, note: str) -> None:
    g = GraphBuilder()
    w = g.variable("w")
    rest = [g.variable(f"v{number}") for number in range(others)]
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.ROUND, (w,), where=at(3)), *rest))

    assert one(g.finish(loss=loss, where=at(9))).notes == (note,)


def test_a_product_of_integers_is_laid_to_the_integers() -> None:
    g = GraphBuilder()
    n = g.constant(dtype="int32")
    g.watch(n)
    square = g.op(OpKind.ELEMENTWISE, (n, n), name="Mul", where=at(4), flows=(Flow.BLOCKED, Flow.BLOCKED))
    found = one(g.finish(loss=g.op(OpKind.CAST, (square,), dtype="float32"), sources=[n]))

    assert "integers have no derivative" in found.message
    assert found.primary is not None
    assert found.primary.span == at(4)
