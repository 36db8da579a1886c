"""What a builder makes of a few readable lines."""

from __future__ import annotations

import dataclasses
import doctest

import pytest
from hypothesis import given

import graph_builder
from graph.strategies import programs
from graph_builder import GraphBuilder
from recording_checks import verify
from whygrad.graph import Flow, OpKind, Outcome, Pairing, Recording, Tensor
from whygrad.source import SourceSpan

HERE = SourceSpan("train.py", 3)


def outcomes(recording: Recording) -> dict[str, Outcome]:
    [request] = recording.requests
    return {recording.variables[s.variable].name: s.outcome for s in request.sources if s.variable is not None}


def test_example_of_the_class_runs() -> None:
    failed, tried = doctest.testmod(graph_builder)

    assert (failed, tried > 0) == (0, True)


def test_a_variable_handed_to_an_op_is_read_there() -> None:
    g = GraphBuilder()
    w = g.variable("w", shape=(2,))
    g.op(OpKind.SMOOTH, (w,), where=HERE, layers=("dense",))
    [read, smooth] = g.request(g.constant()).graph.ops[:2]

    assert (read.kind, read.variable, read.where, read.layers) == (OpKind.READ, w.id, HERE, ("dense",))
    assert smooth.inputs == read.outputs


def test_all_trainable_variables_are_asked_for_unless_told() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    g.variable("count", trainable=False)
    loss = g.op(OpKind.SMOOTH, (a, b))

    assert [source.variable for source in g.request(loss).sources] == [a.id, b.id]
    assert [source.variable for source in g.request(loss, [b]).sources] == [b.id]


def test_what_the_graph_cuts_is_missing_and_the_rest_is_there() -> None:
    g = GraphBuilder()
    a, b, c = g.variable("a"), g.variable("b"), g.variable("c")
    with g.outside():
        before = g.op(OpKind.SMOOTH, (c,))
    loss = g.op(OpKind.SMOOTH, (a, g.op(OpKind.STOP, (b,)), before))

    assert outcomes(g.finish(loss=loss)) == {"a": "present", "b": "missing", "c": "missing"}


def test_outcomes_can_be_told() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    loss = g.op(OpKind.SMOOTH, (a, b))

    assert outcomes(g.finish(loss=loss, missing=[a], zero=[b])) == {"a": "missing", "b": "zero"}


def test_every_source_of_a_request_that_raised_has_failed() -> None:
    g = GraphBuilder()
    a = g.variable("a")

    assert outcomes(g.finish(loss=g.op(OpKind.SMOOTH, (a,)), error="LookupError: ...")) == {"a": "failed"}


@pytest.mark.parametrize(
    ("kind", "dtype", "flow"),
    [
        (OpKind.SMOOTH, "float32", Flow.CARRIED),
        (OpKind.INDEX, "int64", Flow.BLOCKED),
        (OpKind.COMPARE, "bool", Flow.BLOCKED),
        (OpKind.SIGN, "float32", Flow.ZERO),
        (OpKind.STOP, "float32", Flow.BLOCKED),
        (OpKind.SAMPLE, "float32", Flow.BLOCKED),
    ],
)
def test_an_op_does_what_its_kind_does(kind: OpKind, dtype: str, flow: Flow) -> None:
    g = GraphBuilder()
    result = g.op(kind, (g.variable("w"),))

    assert result.dtype == dtype
    assert g.request(result).graph.ops[-1].flows == (flow,)


@pytest.mark.parametrize(("source", "target"), [("float32", "int32"), ("int32", "float32"), ("int32", "int64")])
def test_a_cast_carries_only_between_floating_types(source: str, target: str) -> None:
    g = GraphBuilder()
    g.op(OpKind.CAST, (g.constant(dtype="float32"),), dtype="float64")
    g.op(OpKind.CAST, (g.constant(dtype=source),), dtype=target)
    ops = g.request(g.constant()).graph.ops

    assert [op.flows for op in ops if op.kind is OpKind.CAST] == [(Flow.CARRIED,), (Flow.BLOCKED,)]


def test_tapes_record_side_by_side_and_nothing_is_recorded_outside() -> None:
    g = GraphBuilder()
    g.constant()
    with g.tape(persistent=True) as inner:
        g.constant()
        with g.outside():
            g.constant()
    g.constant()
    recording = g.finish(loss=g.constant())
    own = g.own_tape.id

    assert [set(op.tapes) for op in recording.requests[0].graph.ops[:4]] == [{own}, {own, inner.id}, set(), {own}]
    assert recording.tapes[inner.id].persistent


def test_watching_counts_from_the_next_op_on() -> None:
    g = GraphBuilder()
    x = g.constant()
    first = g.op(OpKind.SMOOTH, (x,))
    g.watch(x)
    request = g.request(g.op(OpKind.SMOOTH, (first, x)), [x])

    assert request.sources[0].watched == 3


def test_an_update_says_whose_gradient_moved_what() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    g.update([(a, b), (b, None)], where=HERE)
    [update] = g.finish().updates

    assert update.pairs == (
        Pairing(variable=a.id, gradient_of=frozenset({b.id})),
        Pairing(variable=b.id, gradient_of=None, missing=True),
    )


def test_earlier_requests_do_not_see_later_ops() -> None:
    g = GraphBuilder()
    first = g.request(g.op(OpKind.SMOOTH, (g.variable("w"),)))
    g.op(OpKind.STOP, (g.constant(),))

    assert [op.kind for op in first.graph.ops] == [OpKind.READ, OpKind.SMOOTH]


def test_a_finished_builder_is_done() -> None:
    g = GraphBuilder()
    g.finish()

    with pytest.raises(ValueError, match="has finished"):
        g.finish()


def test_what_is_finished_is_frozen() -> None:
    g = GraphBuilder()
    recording = g.finish(loss=g.op(OpKind.SMOOTH, (g.variable("w"),)))

    with pytest.raises(dataclasses.FrozenInstanceError):
        recording.requests = ()  # type: ignore[misc]


def test_a_wrong_fact_is_refused() -> None:
    with pytest.raises(TypeError, match="colour"):
        GraphBuilder().variable("w", colour="red")


@given(programs())
def test_what_is_built_is_sound(recording: Recording) -> None:
    assert verify(recording) == []


def test_a_loop_leads_back_into_a_tensor_that_is_there() -> None:
    g = GraphBuilder()
    state = g.op(OpKind.MOVE, (g.variable("w"),))
    body = g.op(OpKind.SMOOTH, (state,))
    again = g.op(OpKind.MOVE, (body,), into=state)

    assert isinstance(again, Tensor)
    assert again is state
    assert outcomes(g.finish(loss=body)) == {"w": "present"}
