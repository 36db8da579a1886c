"""What left the framework and what came back, tied together without the framework."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph_builder import GraphBuilder
from recording_checks import verify
from rules.diagnosis import Script
from whygrad.graph import Action, Departure, Op, OpKind, Outcome, Recording, Tensor
from whygrad.graph.questions.escape import places_left, with_escapes

PROGRAM = """
import numpy as np
with tf.GradientTape() as tape:
    scaled = w * 3.0
    shown = other.numpy()
    total = np.sum(scaled.numpy())
    back = tf.constant(total)
    apart = tf.constant(2.0)
    loss = tf.square(back)

def metric(value):
    return value.numpy() + 1

def forget(x):
    net(x)
    unused = other(x)
"""


class Program:
    """`scaled` is made of a variable, and the loss of a value that came in at `back`."""

    def __init__(self, folder: Path, *, back: str = "tf.constant(total)", **layer: Any) -> None:
        self.script, self.g = Script(folder, PROGRAM), GraphBuilder()
        self.w = self.g.variable("w")
        where = self.script["w * 3.0"]
        self.scaled = self.g.op(OpKind.SMOOTH, (self.w,), shape=(2,), where=where, **layer)
        self.back = self.g.constant(where=self.script[back])
        self.loss = self.g.op(OpKind.SMOOTH, (self.back,), where=self.script["tf.square(back)"])

    def left(self, tensor: Tensor | None, fragment: str, moment: int = 5) -> Departure:
        number = None if tensor is None else tensor.id
        return Departure(how=".numpy()", where=self.script[fragment], tensor=number, moment=moment)

    def links(self, *departures: Departure, came: int | None = 9, **facts: Any) -> list[tuple[str, int]]:
        recording = self.g.finish(loss=self.loss)
        graph = replace(recording.requests[0].graph, departures=departures, **facts)
        if came is not None:
            graph = replace(graph, entered={self.back.id: came})
        return [(op.name, op.where.line) for op in added(recording, graph) if op.where is not None]


def added(recording: Recording, graph: Any) -> list[Op]:
    whole = with_escapes(replace(recording, requests=(replace(recording.requests[0], graph=graph),)))
    assert verify(whole) == []
    return [op for op in whole.requests[0].graph.ops if op.inferred]


def test_a_tensor_that_left_on_a_line_that_feeds_what_came_back_is_tied_to_it(tmp_path: Path) -> None:
    p = Program(tmp_path)

    assert p.links(p.left(p.scaled, "scaled.numpy()")) == [(".numpy()", 5)]


def test_zeros_that_a_caller_gets_unasked_do_not_hide_that_a_value_left(tmp_path: Path) -> None:
    p = Program(tmp_path)
    recording = p.g.finish(loss=p.loss)
    [request] = recording.requests
    zeros = tuple(replace(source, outcome=Outcome.ZERO) for source in request.sources)
    graph = replace(request.graph, departures=(p.left(p.scaled, "scaled.numpy()"),), entered={p.back.id: 9})

    assert added(replace(recording, requests=(replace(request, sources=zeros),)), graph) == []
    unasked = replace(request, sources=zeros, zeros_given=True)
    assert [op.name for op in added(replace(recording, requests=(unasked,)), graph)] == [".numpy()"]


def test_a_tensor_that_left_after_the_value_came_in_is_not(tmp_path: Path) -> None:
    p = Program(tmp_path, back="tf.constant(2.0)")

    assert p.links(p.left(p.scaled, "scaled.numpy()", moment=10)) == []


def test_a_value_that_comes_in_at_once_is_the_one_that_left_in_another_function(tmp_path: Path) -> None:
    p = Program(tmp_path, back="tf.constant(2.0)")

    assert p.links(p.left(p.scaled, "value.numpy()", moment=8)) == [(".numpy()", 11)]


def test_a_value_that_comes_in_at_once_is_another_where_the_code_of_one_function_says_so(tmp_path: Path) -> None:
    p = Program(tmp_path, back="tf.constant(2.0)")

    assert p.links(p.left(p.scaled, "scaled.numpy()", moment=8)) == []


@pytest.mark.parametrize("came", [11, None])
def test_a_value_that_comes_in_later_or_at_no_known_time_needs_the_code(tmp_path: Path, came: int | None) -> None:
    p = Program(tmp_path, back="tf.constant(2.0)")

    assert p.links(p.left(p.scaled, "value.numpy()", moment=8), came=came) == []


def test_a_call_that_nothing_was_seen_to_leave_by_is_read_from_the_code(tmp_path: Path) -> None:
    p = Program(tmp_path)

    assert p.links() == [(".numpy()", 5)]


def test_no_call_reads_the_memory_of_a_tensor_while_a_function_is_traced(tmp_path: Path) -> None:
    p = Program(tmp_path)
    traced = p.g.finish(loss=p.loss, compiled=True)

    assert added(traced, traced.requests[0].graph) == []


def test_a_call_by_which_only_other_tensors_left_is_cleared(tmp_path: Path) -> None:
    p = Program(tmp_path)

    assert p.links(p.left(None, "np.sum(scaled.numpy())")) == []


def test_a_network_computes_where_it_was_called(tmp_path: Path) -> None:
    p = Program(tmp_path, layers=("dense",))
    made = replace(p.script["w * 3.0"], file="layers.py")
    p.g._ops = [replace(op, where=made) if op.layers else op for op in p.g._ops]

    assert p.links(called={"dense": (p.script["scaled = w * 3.0"],)}) == [(".numpy()", 5)]


@pytest.mark.parametrize("thrown_away", ["net(x)", "other(x)"])
def test_what_nobody_keeps_does_not_leave_where_its_network_was_called(thrown_away: str, tmp_path: Path) -> None:
    p = Program(tmp_path, layers=("dense",))
    p.g._ops = [replace(op, where=p.script[thrown_away]) if op.layers else op for op in p.g._ops]

    assert p.links(called={"dense": (p.script["scaled = w * 3.0"],)}) == []


def test_what_the_loss_depends_on_by_ops_needs_no_link(tmp_path: Path) -> None:
    p = Program(tmp_path)
    p.loss = p.g.op(OpKind.SMOOTH, (p.back, p.scaled))

    assert p.links(p.left(p.scaled, "scaled.numpy()")) == []


def test_all_that_leaves_on_the_way_is_told_and_what_leaves_for_something_else_is_not(tmp_path: Path) -> None:
    p = Program(tmp_path)
    departures = [p.left(p.scaled, name) for name in ("other.numpy()", "np.sum(scaled.numpy())", "scaled.numpy()")]
    recording = p.g.finish(loss=p.loss)
    graph = replace(recording.requests[0].graph, departures=tuple(departures), entered={p.back.id: 9})
    [request] = with_escapes(replace(recording, requests=(replace(recording.requests[0], graph=graph),))).requests
    [link] = [op for op in request.graph.ops if op.inferred]

    told = places_left(request, request.sources, link)

    assert told == (p.script["scaled.numpy()"], p.script["np.sum(scaled.numpy())"])


@pytest.mark.parametrize("is_seen", [True, False])
def test_a_value_that_left_is_looked_for_behind_a_stop_too_where_it_was_seen_to_leave(
    tmp_path: Path, is_seen: bool
) -> None:
    program = Program(tmp_path)
    aim = program.g.op(OpKind.STOP, (program.scaled,), shape=(2,))
    program.loss = program.g.op(OpKind.ELEMENTWISE, (program.back, aim), where=program.script["tf.square(back)"])
    seen = [program.left(program.scaled, "scaled.numpy()")] if is_seen else []

    assert program.links(*seen) == ([(".numpy()", 5)] if is_seen else [])


def test_what_the_tape_recorded_is_cut_off_there_and_not_in_an_earlier_pass(tmp_path: Path) -> None:
    p = Program(tmp_path)
    with p.g.outside():
        before = p.g.op(OpKind.SMOOTH, (p.w,), shape=(2,), where=p.script["other.numpy()"])
    early = replace(p.left(before, "scaled.numpy()"), where=p.script["tf.constant(total)"])

    assert p.links(early) == [(".numpy()", 5)]


SUM = """
import numpy as np
def scaled(value):
    return np.clip(value, 0, 1)
with tf.GradientTape() as tape:
    out = net(x)
    wide = net(x).shape[1]
    cost = judge(scaled(out))
    size = judge(np.log(wide))
    loss = cost + effort
"""


class Sum:
    """`cost`, of a value that came in, and `effort`, which trains the variable."""

    def __init__(self, folder: Path, *, came: str = "judge(scaled(out))", outside: bool = False) -> None:
        self.script, self.g = Script(folder, SUM), GraphBuilder()
        self.w, x = self.g.variable("w", shape=(4, 4)), self.g.constant(shape=(8, 4))
        if outside:
            with self.g.outside():
                self.g.op(OpKind.CONTRACT, (x, self.w), shape=(8, 4), where=self.script["net(x)"])
            self.out = self.g.op(OpKind.CONTRACT, (x, self.w), shape=(8, 4))
        else:
            self.out = self.g.op(OpKind.CONTRACT, (x, self.w), shape=(8, 4), where=self.script["net(x)"])
        self.back = self.g.constant(shape=(8, 4), where=self.script[came])
        self.cost = self.mean(self.g.op(OpKind.SMOOTH, (self.back,), shape=(8, 4)))
        effort = self.mean(self.g.op(OpKind.ELEMENTWISE, (self.out,), action=Action.SQUARE, shape=(8, 4)))
        self.loss = self.g.op(OpKind.ELEMENTWISE, (self.cost, effort), action=Action.ADD, shape=())

    def mean(self, tensor: Tensor) -> Tensor:
        return self.g.op(OpKind.REDUCE, (tensor,), action=Action.MEAN, shape=())

    def links(self, *departures: Departure, **asked: Any) -> list[tuple[str, int]]:
        recording = self.g.finish(loss=self.loss, **asked)
        graph = replace(recording.requests[0].graph, departures=departures)
        return [(op.name, op.where.line) for op in added(recording, graph) if op.where is not None]


def test_a_term_without_any_variable_may_be_of_what_numpy_took_unseen(tmp_path: Path) -> None:
    assert Sum(tmp_path).links() == [("np.clip()", 3)]


def test_a_term_of_what_numpy_took_of_an_earlier_pass_is_left_alone(tmp_path: Path) -> None:
    assert Sum(tmp_path, outside=True).links() == []


def test_a_term_of_the_size_of_something_is_left_alone(tmp_path: Path) -> None:
    assert Sum(tmp_path, came="judge(np.log(wide))").links() == []


def test_a_term_of_a_traced_step_is_left_alone(tmp_path: Path) -> None:
    assert Sum(tmp_path).links(compiled=True) == []


def test_a_call_that_other_tensors_were_seen_to_leave_by_took_no_term(tmp_path: Path) -> None:
    s = Sum(tmp_path)

    assert s.links(Departure(how="an array", where=s.script["np.clip(value, 0, 1)"])) == []
