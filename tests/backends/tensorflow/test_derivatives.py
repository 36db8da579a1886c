"""Which op is the derivative of which, in graphs built by hand."""

from __future__ import annotations

from graph_builder import GraphBuilder
from whygrad.backends.tensorflow.freeze.derivatives import with_derivatives
from whygrad.graph import Op, OpKind


def names(ops: tuple[Op, ...]) -> dict[str, str | None]:
    known = {op.id: op.name for op in ops}
    return {op.name: known.get(op.derivative_of) if op.derivative_of is not None else None for op in ops}


def test_a_derivative_is_given_what_the_forward_op_made() -> None:
    g = GraphBuilder()
    hidden = g.op(OpKind.SMOOTH, (g.constant(),), name="Relu")
    loss = g.op(OpKind.OTHER, (g.constant(), hidden), name="ReluGrad")
    ops = with_derivatives(g.finish(loss=loss).requests[0].graph.ops)

    assert names(ops) == {"constant": None, "Relu": None, "ReluGrad": "Relu"}


def test_a_derivative_may_be_given_only_what_the_forward_op_was_given() -> None:
    g = GraphBuilder()
    image = g.constant()
    g.op(OpKind.OTHER, (image,), name="ResizeBilinear")
    loss = g.op(OpKind.OTHER, (g.constant(), image), name="ResizeBilinearGrad")

    assert names(with_derivatives(g.finish(loss=loss).requests[0].graph.ops))["ResizeBilinearGrad"] == "ResizeBilinear"


def test_an_op_of_another_layer_is_not_the_forward_op() -> None:
    g = GraphBuilder()
    g.op(OpKind.SMOOTH, (g.constant(),), name="Relu")
    loss = g.op(OpKind.OTHER, (g.constant(), g.constant()), name="ReluGrad")

    assert names(with_derivatives(g.finish(loss=loss).requests[0].graph.ops))["ReluGrad"] is None
