"""A ledger built by hand: two weights of a decoder, and who wrote to them."""

from __future__ import annotations

from whygrad.graph.ledger import Ledger, Stretch, Write, WriterKind
from whygrad.graph.node import VariableId
from whygrad.source import SourceSpan

KERNEL, BIAS = VariableId(1), VariableId(2)


def write(
    variable: VariableId, kind: WriterKind, writer: str, *steps: Stretch, where: SourceSpan | None = None
) -> Write:
    count = sum((s.last - s.first) // s.every + 1 if s.every else 1 for s in steps)
    return Write(variable=variable, kind=kind, writer=writer, method="assign", where=where, count=count, steps=steps)


def decoder_ledger() -> Ledger:
    return Ledger(
        variables={KERNEL: "model/decoder/kernel", BIAS: "model/decoder/bias"},
        writes=(
            write(KERNEL, WriterKind.OPTIMIZER, "adam", Stretch(1, 200)),
            write(BIAS, WriterKind.OPTIMIZER, "adam", Stretch(1, 200)),
            write(KERNEL, WriterKind.EDIT, "ClipWeights", Stretch(10, 200, 10)),
            write(KERNEL, WriterKind.USER, "set_weights", Stretch(0, 0), Stretch(17, 17), Stretch(91, 91)),
        ),
        steps=200,
    )
