"""Which ops of a tape's way back are the derivative of which forward op, by TensorFlow's names: `Relu`, `ReluGrad`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from whygrad.graph import Op, TensorId

_ENDING = "Grad"


def with_derivatives(ops: Sequence[Op]) -> tuple[Op, ...]:
    """The ops of a graph; those that are a derivative say of which one."""
    wanted = {op.name.removesuffix(_ENDING) for op in ops if op.name.endswith(_ENDING)}
    if not wanted:
        return tuple(ops)
    touching: dict[TensorId, list[Op]] = {}
    for op in ops:
        for tensor in (*op.outputs, *op.inputs) if op.name in wanted else ():
            touching.setdefault(tensor, []).append(op)
    return tuple(_with_forward(op, touching) if op.name.endswith(_ENDING) else op for op in ops)


def _with_forward(op: Op, touching: dict[TensorId, list[Op]]) -> Op:
    """It is given what the forward op made, or at least what the forward op was given."""
    near = [each for tensor in op.inputs for each in touching.get(tensor, ()) if f"{each.name}{_ENDING}" == op.name]
    made = (each for each in near if not set(each.outputs).isdisjoint(op.inputs))
    forward = next(made, near[0] if near else None)
    return op if forward is None else replace(op, derivative_of=forward.id)
