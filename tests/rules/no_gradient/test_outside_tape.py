from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import Script, at, codes, one
from whygrad.graph import Flow, Lapse, OpId, OpKind
from whygrad.graph.node import Tape


def test_fires_when_the_forward_pass_ran_before_the_tape(tmp_path: Path) -> None:
    script = Script(tmp_path, "prediction = model(x)")
    g = GraphBuilder()
    w = g.variable("w")
    with g.outside():
        prediction = g.op(OpKind.CONTRACT, (w,), where=script["model(x)"])
    found = one(g.finish(loss=g.op(OpKind.REDUCE, (prediction,))))

    assert found.code == "WG105"
    assert found.message == "no gradient reaches `w`: `model(x)` ran while the tape was not recording"
    assert found.help == "move `model(x)` into the `with tf.GradientTape()` block"
    assert found.primary is not None
    assert found.primary.span == script["model(x)"]


LAYER = """
def train():
    with tf.GradientTape() as tape:
        pass
class Layer:
    def build(self, shape):
        self.kernel = tf.exp(self.w)
def prepare():
    return tf.sinh(w)
net.fit(x)
"""


@pytest.mark.parametrize(
    ("computed", "entered", "model", "help"),
    [
        ("tf.exp(self.w)", "net.fit(x)", "net", "compute `tf.exp(self.w)` in `call`, not in `build`, which runs once"),
        ("tf.exp(self.w)", "tf.GradientTape()", None, "compute `tf.exp(self.w)` in `call`, not in `build`, which"),
        ("tf.sinh(w)", "net.fit(x)", "net", "compute `tf.sinh(w)` in the forward pass or in the loss"),
        ("tf.sinh(w)", "tf.GradientTape()", "net", "call `prepare`, which computes `tf.sinh(w)`, inside the `with"),
    ],
)
def test_advises_what_fits_the_place(tmp_path: Path, computed: str, entered: str, model: str | None, help: str) -> None:
    script = Script(tmp_path, LAYER)
    g = GraphBuilder()
    with g.outside():
        scaled = g.op(OpKind.SMOOTH, (g.variable("w"),), where=script[computed])
    recording = g.finish(loss=g.op(OpKind.REDUCE, (scaled,)), where=script["net.fit(x)"], model=model)
    [request] = recording.requests
    tapes = {request.tape: Tape(id=request.tape, entered=script[entered])}

    assert (one(replace(recording, tapes=tapes)).help or "").startswith(help)


def test_fires_when_one_op_between_is_not_recorded() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    hidden = g.op(OpKind.SMOOTH, (w,))
    with g.outside():
        scaled = g.op(OpKind.SMOOTH, (hidden,), where=at(5))
    found = one(g.finish(loss=g.op(OpKind.REDUCE, (scaled,))))

    assert found.code == "WG105"
    assert found.primary is not None
    assert found.primary.span == at(5)


def test_fires_when_the_target_itself_is_made_after_the_tape() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    loss = g.op(OpKind.SMOOTH, (w,))
    with g.outside():
        negated = g.op(OpKind.ELEMENTWISE, (loss,), where=at(7))

    assert codes(g.finish(loss=negated)) == ["WG105"]


def test_fires_when_the_inner_gradient_was_taken_outside_the_outer_tape() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    inner_loss = g.op(OpKind.SMOOTH, (w,))
    with g.outside():
        slope = g.op(OpKind.GRADIENT, (inner_loss,), where=at(4))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (slope,))))

    assert found.code == "WG105"
    assert found.message == "no gradient reaches `w`: an inner gradient was taken while the tape was not recording"


def test_fires_once_for_a_whole_stretch_of_unrecorded_code() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    with g.outside():
        value = g.op(OpKind.SMOOTH, (w,), where=at(2))
        value = g.op(OpKind.SMOOTH, (value,), where=at(3))
    found = one(g.finish(loss=g.op(OpKind.REDUCE, (value,))))

    assert found.primary is not None
    assert found.primary.span == at(2)


def test_silent_when_only_data_is_prepared_before_the_tape() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    with g.outside():
        batch = g.op(OpKind.SMOOTH, (g.constant(),))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, batch)))) == []


def test_silent_when_the_value_is_also_computed_under_the_tape() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    with g.outside():
        baseline = g.op(OpKind.SMOOTH, (w,))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, baseline)))) == []


def test_silent_when_a_network_used_before_the_tape_is_not_asked_for() -> None:
    g = GraphBuilder()
    online, target = g.variable("online"), g.variable("target")
    with g.outside():
        backup = g.op(OpKind.SMOOTH, (target,))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (online, backup)), sources=[online])) == []


def test_silent_when_each_request_has_its_own_tape() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    with g.tape() as first:
        g.request(g.op(OpKind.SMOOTH, (a,)), [a], tape=first)
    with g.tape() as second:
        g.request(g.op(OpKind.SMOOTH, (b,)), [b], tape=second)

    assert codes(g.finish()) == []


def test_silent_when_an_inner_gradient_is_recorded_by_the_outer_tape() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    slope = g.op(OpKind.CONTRACT, (g.op(OpKind.SMOOTH, (w,)),), flows=(Flow.CARRIED,))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (slope,)))) == []


def test_what_ran_while_the_recording_was_stopped_is_not_told_to_move_into_the_block(tmp_path: Path) -> None:
    script = Script(tmp_path, "with tape.stop_recording():\n    prediction = model(x)")
    g = GraphBuilder()
    w = g.variable("w")
    with g.outside():
        prediction = g.op(OpKind.CONTRACT, (w,), where=script["model(x)"])
    lapse = Lapse(first=OpId(1), end=OpId(3), where=script["tape.stop_recording()"])
    found = one(g.finish(loss=g.op(OpKind.REDUCE, (prediction,)), lapses=(lapse,)))

    assert found.message == "no gradient reaches `w`: `model(x)` ran while the tape's recording was stopped"
    assert found.help == "move `model(x)` out of the block that stops the recording"
    assert [label.span for label in found.related] == [lapse.where]


def test_a_tape_that_was_emptied_is_one_finding_at_the_reset() -> None:
    g = GraphBuilder()
    w, b = g.variable("w"), g.variable("b")
    with g.outside():
        first = g.op(OpKind.CONTRACT, (w,), where=at(4))
        second = g.op(OpKind.ELEMENTWISE, (first, b), where=at(5))
    lapse = Lapse(first=OpId(1), end=OpId(5), where=at(6), emptied=True)
    found = one(g.finish(loss=g.op(OpKind.REDUCE, (second,)), lapses=(lapse,)))

    assert found.primary is not None
    assert (found.primary.span, found.variables) == (at(6), ("w", "b"))


TIED = """
class Tied:
    def build(self, shape):
        self.turned = transpose(table)
    def call(self, x):
        return x @ self.turned
"""


@pytest.mark.parametrize(
    ("kind", "shape", "told"),
    [
        (OpKind.CONTRACT, (3, 8), ["WG105"]),  # a weight that stays what it was
        (OpKind.CONTRACT, (8, 3), []),  # a copy: what it was is meant
        (OpKind.ELEMENTWISE, (3, 8), []),  # no weight
    ],
)
def test_a_weight_that_was_made_once_of_a_variable_that_is_trained_otherwise_stays_what_it_was(
    tmp_path: Path, kind: OpKind, shape: tuple[int, int], told: list[str]
) -> None:
    script = Script(tmp_path, TIED)
    g = GraphBuilder()
    table = g.variable("table", shape=(8, 3))
    with g.outside():
        value = g.read(table, where=script["table"])
        turned = g.op(OpKind.MOVE, (value,), shape=shape, where=script["transpose(table)"])
    rows = g.op(OpKind.SMOOTH, (table,), shape=(4, 3))
    recording = g.finish(loss=g.op(OpKind.REDUCE, (g.op(kind, (rows, turned), shape=(4, 8)),)))

    assert codes(recording) == told
    if told:
        assert (
            one(recording).message
            == "`table` is trained, but `transpose(table)` likely stays what it was when `build` ran"
        )
