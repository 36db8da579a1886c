from __future__ import annotations

from pathlib import Path

from graph_builder import GraphBuilder
from rules.diagnosis import Script, at, codes, one
from whygrad.graph import OpKind


def test_fires_when_the_value_goes_through_a_data_set(tmp_path: Path) -> None:
    script = Script(tmp_path, "rows = Dataset.from_tensor_slices(w)")
    g = GraphBuilder()
    w = g.variable("w")
    row = g.op(OpKind.STATE, (w,), name="TensorSliceDataset", where=script["Dataset.from_tensor_slices(w)"])
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (row,))))

    assert found.code == "WG113"
    assert found.message == "no gradient reaches `w`: its value goes through state that keeps no gradients"
    assert found.primary is not None
    assert found.primary.text == "TensorSliceDataset: stored without its history"


def test_fires_when_a_queue_is_filled_here_and_emptied_there() -> None:
    g = GraphBuilder()
    w, queue = g.variable("w"), g.variable("queue", dtype="resource", trainable=False)
    g.op(OpKind.STATE, (w,), name="QueueEnqueue", variable=queue.id, where=at(3))
    row = g.op(OpKind.STATE, (), name="QueueDequeue", variable=queue.id, where=at(5))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (row,)), sources=[w]))

    assert found.code == "WG113"
    assert found.primary is not None
    assert found.primary.span == at(3)


def test_silent_when_the_data_set_holds_data() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    row = g.op(OpKind.STATE, (g.constant(),), where=at(2))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, row)))) == []


def test_silent_when_what_is_stored_is_read_back_by_nobody() -> None:
    g = GraphBuilder()
    w, queue = g.variable("w"), g.variable("queue", dtype="resource", trainable=False)
    value = g.op(OpKind.SMOOTH, (w,))
    g.op(OpKind.STATE, (value,), variable=queue.id, where=at(3))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (value,)), sources=[w])) == []


def test_silent_when_the_queue_was_emptied_before() -> None:
    g = GraphBuilder()
    w, queue = g.variable("w"), g.variable("queue", dtype="resource", trainable=False)
    row = g.op(OpKind.STATE, (), variable=queue.id, where=at(2))
    loss = g.op(OpKind.SMOOTH, (w, row))
    g.op(OpKind.STATE, (w,), variable=queue.id, where=at(3))

    assert codes(g.finish(loss=loss, sources=[w])) == []
