"""Diagnostics and graphs go into the store and come back equal."""

from __future__ import annotations

import json

from hypothesis import given

from report.strategies import DIAGNOSTICS
from whygrad.diagnostics import Diagnostic
from whygrad.graph import Flow, Graph, Op, OpId, OpKind, TapeId, Tensor, TensorId, VariableId
from whygrad.graph.dataclass_json import from_plain, to_plain
from whygrad.source import SourceSpan


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


def test_the_form_of_older_files_is_read_too() -> None:
    span = {"kind": "SourceSpan", "file": "a.py", "line": 1, "column": 4, "end_line": None, "end_column": None}
    op = {
        "kind": "read",
        "id": 4,
        "name": "ReadVariableOp",
        "inputs": [],
        "outputs": [1],
        "flows": ["carried"],
        "where": span,
        "tapes": [1, 2],
        "variable": None,
        "layers": ["net"],
        "custom": None,
    }
    tensor = {"kind": "Tensor", "id": 1, "dtype": "float32", "shape": [None, 3]}

    graph = from_plain(Graph, {"kind": "Graph", "ops": [op], "tensors": [[1, tensor]], "truncated": False})

    assert graph.ops[0].where == SourceSpan("a.py", 1, 4)
    assert graph.ops[0].tapes == {1, 2}
    assert graph.tensors[TensorId(1)].shape == (None, 3)
