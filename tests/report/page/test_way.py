"""The way from a variable to its loss, on recordings made by hand."""

from __future__ import annotations

from itertools import pairwise

from graph_builder import GraphBuilder
from whygrad.graph.node import OpKind
from whygrad.graph.questions.query import Reason
from whygrad.report.page.layout import BOX, lay_out
from whygrad.report.page.way import Way, way_of
from whygrad.source import SourceSpan


def states(way: Way) -> list[str]:
    return [box.state for box in way.boxes]


def test_the_cut_lies_between_what_gets_a_gradient_and_what_does_not() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    hidden = g.op(OpKind.SMOOTH, (w,))
    stopped = g.op(OpKind.STOP, (hidden,))
    loss = g.op(OpKind.REDUCE, (g.op(OpKind.SMOOTH, (stopped,)),))
    request = g.finish(loss=loss).requests[0]

    way = way_of(request, request.sources[0])

    assert states(way) == ["start", "silent", "cut", "carries", "loss"]
    assert way.boxes[2].reason is Reason.STOPPED
    assert [(arrow.start, arrow.end, arrow.open) for arrow in way.arrows] == [
        (0, 1, False),
        (1, 2, False),
        (2, 3, True),
        (3, 4, True),
    ]


def test_a_closed_branch_beside_an_open_one_is_no_cut() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    side = g.op(OpKind.STOP, (w,))
    loss = g.op(OpKind.ELEMENTWISE, (w, side))
    request = g.finish(loss=loss).requests[0]

    way = way_of(request, request.sources[0])

    assert "cut" not in states(way)
    assert "aside" in states(way)


def test_a_read_outside_of_the_tape_is_itself_the_cut() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    with g.outside():
        hidden = g.op(OpKind.SMOOTH, (w,))
    request = g.finish(loss=g.op(OpKind.REDUCE, (hidden,))).requests[0]

    way = way_of(request, request.sources[0])

    assert way.boxes[0].state == "cut"
    assert way.boxes[0].reason is Reason.OUTSIDE


def test_without_a_way_the_ops_of_the_variable_are_drawn_alone() -> None:
    g = GraphBuilder()
    w, v = g.variable("w"), g.variable("v")
    g.op(OpKind.SMOOTH, (w,))
    request = g.finish(loss=g.op(OpKind.SMOOTH, (v,))).requests[0]

    way = way_of(request, request.sources[0])

    assert not way.connected
    assert states(way) == ["start", "silent"]


def test_a_long_uneventful_stretch_is_folded_and_can_be_had_whole() -> None:
    g = GraphBuilder()
    value = g.op(OpKind.SMOOTH, (g.variable("w"),))
    for line in range(1, 30):
        value = g.op(OpKind.SMOOTH, (value,), where=SourceSpan("a.py", line))
    request = g.finish(loss=g.op(OpKind.REDUCE, (value,))).requests[0]

    folded, whole = (way_of(request, request.sources[0], folded=each) for each in (True, False))

    assert [len(box.ops) for box in folded.boxes] == [1, 1, 28, 1, 1]
    assert folded.boxes[2].folded
    assert len(whole.boxes) == 32


def test_ops_of_one_expression_are_one_box() -> None:
    g = GraphBuilder()
    where = SourceSpan("a.py", 3, 4, 3, 20)
    value = g.op(OpKind.CONTRACT, (g.variable("w"),), where=where, layers=("dense",))
    value = g.op(OpKind.SMOOTH, (value,), where=where, layers=("dense",))
    request = g.finish(loss=g.op(OpKind.REDUCE, (value,))).requests[0]

    way = way_of(request, request.sources[0])

    assert [len(box.ops) for box in way.boxes] == [1, 2, 1]


def test_boxes_of_a_row_do_not_overlap_and_long_arrows_pass_beside() -> None:
    # 0 -> 1, 2, 3 -> 4, and 0 -> 4 directly
    edges = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4), (0, 4)]

    layout = lay_out(5, edges)

    row = sorted(layout.places[node][0] for node in (1, 2, 3))
    assert all(b - a >= BOX[0] for a, b in pairwise(row))
    passing = layout.routes[-1][1][0]
    assert all(abs(passing - x) > BOX[0] / 2 for x in row)
    assert min(x for x, _ in layout.places) >= BOX[0] / 2
    assert layout.places[0][1] < layout.places[1][1] < layout.places[4][1]


def test_an_edge_that_leads_back_does_not_hang_the_layout() -> None:
    assert len(lay_out(3, [(0, 1), (1, 2), (2, 0)]).places) == 3
    assert lay_out(0, []).size == (0, 0)
