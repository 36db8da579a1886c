"""Diagnostics and graphs go into the store and come back equal."""

from __future__ import annotations

import json

from hypothesis import given

from report.strategies import DIAGNOSTICS
from whygrad.diagnostics import Diagnostic
from whygrad.graph import Flow, Graph, Op, OpId, OpKind, TapeId, Tensor, TensorId, VariableId
from whygrad.source import SourceSpan
from whygrad.store.json_codec import from_plain, to_plain


@given(diagnostic=DIAGNOSTICS)
def test_diagnostic_comes_back_equal(diagnostic: Diagnostic) -> None:
    assert from_plain(Diagnostic, json.loads(json.dumps(to_plain(diagnostic)))) == diagnostic


def test_graph_comes_back_equal() -> None:
    tensor = Tensor(id=TensorId(1), dtype="float32", shape=(None, 3))
    op = Op(
        id=OpId(4),
        kind=OpKind.READ,
        name="ReadVariableOp",
        inputs=(),
        outputs=(TensorId(1),),
        flows=(Flow.CARRIED,),
        where=SourceSpan("train.py", 3, 4, 3, 9),
        tapes=frozenset({TapeId(2), TapeId(1)}),
        variable=VariableId(7),
        layers=("net", "dense"),
    )
    graph = Graph((op,), {TensorId(1): tensor}, truncated=True)

    assert from_plain(Graph, json.loads(json.dumps(to_plain(graph)))) == graph


def test_fields_of_another_version_are_left_out_or_get_their_default() -> None:
    data = to_plain(SourceSpan("a.py", 1))

    assert from_plain(SourceSpan, {**data, "colour": "red"}) == SourceSpan("a.py", 1)
    assert from_plain(SourceSpan, {"file": "a.py", "line": 1}) == SourceSpan("a.py", 1)
