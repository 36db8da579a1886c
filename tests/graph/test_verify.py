"""Each check of the table is seen to fail once, and sound recordings pass them all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from graph_builder import GraphBuilder
from recording_checks import GRAPH_CHECKS, RECORDING_CHECKS, Violation, verify
from whygrad.graph import (
    Departure,
    Failure,
    Flow,
    Op,
    OpId,
    OpKind,
    Outcome,
    Pairing,
    Recording,
    TapeId,
    TensorId,
    VariableId,
)
from whygrad.source import SourceSpan

NOWHERE = VariableId(7)


def sound() -> Recording:
    g = GraphBuilder()
    w = g.variable("w", created=SourceSpan("train.py", 1, 0, 1, 9))
    copy = g.variable("copy", trainable=False)
    g.write(copy, w)
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.CUSTOM, (w,)), copy), where=SourceSpan("train.py", 2))
    g.request(loss, [w])
    g.update([(w, w)])
    return g.finish()


def with_op(at: int, **changes: Any) -> Recording:
    """A sound recording with one op changed; its ops are read, write, read, custom, read, smooth."""
    recording = sound()
    ops = list(recording.requests[0].graph.ops)
    ops[at] = replace(ops[at], **changes)
    return with_graph(ops=tuple(ops))


def with_graph(**changes: Any) -> Recording:
    recording = sound()
    return with_request(graph=replace(recording.requests[0].graph, **changes))


def with_request(**changes: Any) -> Recording:
    recording = sound()
    return replace(recording, requests=(replace(recording.requests[0], **changes),))


def with_source(**changes: Any) -> Recording:
    return with_request(sources=(replace(sound().requests[0].sources[0], **changes),))


def with_update(**changes: Any) -> Recording:
    recording = sound()
    return replace(recording, updates=(replace(recording.updates[0], **changes),))


def with_span(span: SourceSpan) -> Recording:
    return replace(sound(), events=(Departure(where=span, how="float()"),))


def without_tensor() -> Recording:
    tensors = dict(sound().requests[0].graph.tensors)
    return with_graph(tensors={number: tensor for number, tensor in tensors.items() if number != 1})


def misfiled_tensor() -> Recording:
    tensors = dict(sound().requests[0].graph.tensors)
    return with_graph(tensors={**tensors, TensorId(1): tensors[TensorId(2)]})


def misfiled_variable() -> Recording:
    recording = sound()
    first, second = recording.variables.values()
    return replace(recording, variables={first.id: second, second.id: first})


def custom_with_a_way_around() -> Recording:
    ops = sound().requests[0].graph.ops
    inside = Op(
        id=OpId(99),
        kind=OpKind.MOVE,
        name="identity",
        inputs=ops[3].inputs,
        outputs=ops[3].outputs,
        flows=(Flow.CARRIED,),
        where=None,
        tapes=ops[3].tapes,
    )
    return with_graph(ops=(*ops, inside))


FAULTS: list[tuple[str, Callable[[], Recording]]] = [
    ("op ids grow", lambda: with_op(3, id=OpId(2))),
    ("op ids grow", lambda: with_op(0, id=OpId(2))),
    ("tensors are filed under their ids", misfiled_tensor),
    ("tensors are described", without_tensor),
    ("each input has a flow", lambda: with_op(5, flows=(Flow.CARRIED,))),
    ("outputs are distinct", lambda: with_op(3, outputs=(TensorId(3), TensorId(3)))),
    ("variables are named where due", lambda: with_op(0, variable=None)),
    ("variables are named where due", lambda: with_op(5, variable=NOWHERE)),
    ("reads give, writes take", lambda: with_op(4, outputs=())),
    ("reads give, writes take", lambda: with_op(1, inputs=(), flows=(), outputs=(TensorId(1),))),
    ("custom gradients are not bypassed", custom_with_a_way_around),
    ("derivatives are of known ops", lambda: with_op(5, derivative_of=OpId(99))),
    ("things are filed under their ids", misfiled_variable),
    ("tapes are known", lambda: with_request(tape=TapeId(9))),
    ("variables are known", lambda: with_op(0, variable=NOWHERE)),
    ("variables are known", lambda: with_source(variable=NOWHERE)),
    ("variables are known", lambda: with_update(pairs=(Pairing(variable=NOWHERE, gradient_of=None),))),
    ("variables are known", lambda: with_update(unknown=(NOWHERE,))),
    ("a source is one thing", lambda: with_source(variable=None)),
    ("a source is one thing", lambda: with_source(tensor=TensorId(1))),
    ("outcomes fit", lambda: with_source(outcome=Outcome.FAILED)),
    ("outcomes fit", lambda: with_request(error=Failure(type_name="LookupError", message="no gradient"))),
    ("targets are there", lambda: with_request(targets=())),
    ("targets are there", lambda: with_request(targets=(TensorId(4), TensorId(4)))),
    ("history is whole", lambda: with_op(2, outputs=(TensorId(1),))),
    ("things are counted", lambda: with_request(seen=0)),
    ("things are counted", lambda: with_update(order=-1)),
    ("watched in time", lambda: with_source(watched=99)),
    ("pairs fit", lambda: with_update(pairs=(replace(sound().updates[0].pairs[0], missing=True),))),
    ("spans are sane", lambda: with_span(SourceSpan("train.py", 0))),
    ("spans are sane", lambda: with_span(SourceSpan("", 1))),
    ("spans are sane", lambda: with_span(SourceSpan("train.py", 5, 0, 4, 1))),
    ("spans are sane", lambda: with_span(SourceSpan("train.py", 5, -1))),
    ("spans are sane", lambda: with_span(SourceSpan("train.py", 5, 9, 5, 2))),
    ("spans are sane", lambda: with_span(SourceSpan("train.py", 5, None, 5, 2))),
    ("spans are sane", lambda: with_op(5, where=SourceSpan("train.py", -3))),
]


@pytest.mark.parametrize(("check", "make"), FAULTS)
def test_fault_is_found_by_its_check(check: str, make: Callable[[], Recording]) -> None:
    assert check in {violation.check for violation in verify(make())}


def test_every_check_is_seen_to_fail_above() -> None:
    assert {check for check, _ in FAULTS} == {*GRAPH_CHECKS, *RECORDING_CHECKS}


def test_sound_recording_has_no_violation() -> None:
    assert verify(sound()) == []
    assert verify(Recording()) == []


def test_cut_off_history_is_no_fault_where_the_graph_says_so() -> None:
    ops = sound().requests[0].graph.ops

    assert "history is whole" in {v.check for v in verify(with_graph(ops=ops[3:]))}
    assert verify(with_graph(ops=ops[3:], truncated=True)) == []


def test_a_span_over_several_lines_may_end_left_of_its_beginning() -> None:
    assert verify(with_span(SourceSpan("train.py", 5, 9, 7, 2))) == []


def test_violation_reads_as_a_sentence() -> None:
    [violation] = verify(with_request(seen=0))

    assert violation == Violation("things are counted", "request 0 was seen 0 times, at 7")
    assert str(violation) == "things are counted: request 0 was seen 0 times, at 7"
