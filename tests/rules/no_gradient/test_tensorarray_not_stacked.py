from __future__ import annotations

from pathlib import Path

from graph_builder import GraphBuilder
from rules.diagnosis import Script, codes, one
from whygrad.graph import OpKind

RAISED = "AttributeError: 'TensorArray' object has no attribute '_id'"


def test_fires_when_the_target_is_a_tensor_array(tmp_path: Path) -> None:
    script = Script(tmp_path, "slopes = tape.jacobian(states, x)")
    g = GraphBuilder()
    x = g.variable("x")
    where = script["tape.jacobian(states, x)"]
    g.request((), [x], target_type="TensorArray", method="jacobian", error=RAISED, where=where)
    found = one(g.finish())

    assert found.code == "WG116"
    assert found.message == "`states` is a TensorArray, not a tensor: it cannot be differentiated"
    assert found.help == "stack it under the tape and use the result: `states.stack()`"
    assert found.variables == ("x",)


def test_fires_when_a_source_is_a_tensor_array(tmp_path: Path) -> None:
    script = Script(tmp_path, "slopes = tape.gradient(loss, states)")
    g = GraphBuilder()
    loss = g.op(OpKind.SMOOTH, (g.variable("w"),))
    found = one(g.finish(loss=loss, sources=["TensorArray"], error=RAISED, where=script["tape.gradient(loss, states)"]))

    assert found.code == "WG116"
    assert found.message == "`states` is a TensorArray, not a tensor: nothing can be differentiated with respect to it"


def test_reads_well_when_the_target_cannot_be_named() -> None:
    g = GraphBuilder()
    g.request((), [g.variable("x")], target_type="TensorArray", error=RAISED)
    found = one(g.finish())

    assert found.message == "the target is a TensorArray, not a tensor: it cannot be differentiated"
    assert found.help == "stack it under the tape and use the result: `array.stack()`"


def test_silent_when_the_target_is_something_else() -> None:
    g = GraphBuilder()
    g.request((), [g.variable("x")], target_type="ListWrapper", error="TypeError: no tensor")

    assert codes(g.finish()) == []


def test_silent_when_the_array_is_stacked() -> None:
    g = GraphBuilder()
    x = g.variable("x")
    stacked = g.op(OpKind.MOVE, (g.op(OpKind.SMOOTH, (x,)),), name="TensorListStack")

    assert codes(g.finish(loss=g.op(OpKind.REDUCE, (stacked,)))) == []


def test_silent_when_the_array_is_only_used_on_the_way() -> None:
    g = GraphBuilder()
    x = g.variable("x")
    array = g.op(OpKind.MOVE, (x,), name="TensorListSetItem", dtype="variant")

    assert "WG116" not in codes(g.finish(loss=g.op(OpKind.MOVE, (array,), dtype="float32"), missing=[]))
