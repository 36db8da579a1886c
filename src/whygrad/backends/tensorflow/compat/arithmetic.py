"""Arithmetic of a graph, computed once more for a reader.

TensorFlow's graph optimizer draws arithmetic together, `rate * (2 * x)` into `(rate * 2) * x`, and rounds otherwise by
that. It does so only with what it knows, constants and what is made of them, and only where nothing else reads what is
in between; so a reader of ours must not be what keeps it apart, and reads all else as it is.
"""

from __future__ import annotations

from typing import Any, Final

import tensorflow as tf

_PASSED: Final = frozenset({"Identity", "Reshape", "Squeeze", "ExpandDims", "Cast", "Neg"})
_SCALING: Final = frozenset({"Mul", "RealDiv", "Div", "MulNoNan", "DivNoNan"})
_ADDING: Final = frozenset({"Add", "AddV2", "AddN", "Sub"})
_DEEP: Final = 8  # ops in a row
_OWN: Final = "_whygrad_apart"  # the optimizer makes one of two ops that are the same: this one is not


def computed_apart(tensor: Any, *, sums: bool) -> Any:
    """The same value by ops of its own, as far as its last ops are arithmetic with constants; `sums`: what is added up
    as well."""
    return _copy(tensor, _PASSED | _SCALING | (_ADDING if sums else frozenset()), {}, _DEEP)


def _is_constant(tensor: Any, depth: int = _DEEP) -> bool:
    """Whether the optimizer will know the value: a constant, or what is made of nothing but such."""
    op = tensor.op
    if op.type == "Const":
        return True
    return bool(depth and op.inputs) and all(_is_constant(each, depth - 1) for each in op.inputs)


def _copy(tensor: Any, kinds: frozenset[str], known: dict[int, Any], depth: int) -> Any:
    op = getattr(tensor, "op", None)
    if op is None or op.type not in kinds or not depth or op.graph is not tf.compat.v1.get_default_graph():
        return tensor
    if op.type not in _PASSED and not any(map(_is_constant, op.inputs)):
        return tensor
    if id(op) not in known:
        inputs = [_copy(each, kinds, known, depth - 1) for each in op.inputs]
        attrs = {**op.node_def.attr, _OWN: tf.compat.v1.AttrValue(b=True)}
        own = op.graph.create_op(op.type, inputs, [each.dtype for each in op.outputs], attrs=attrs, name=op.type)
        known[id(op)] = own.outputs[0]
    return known[id(op)]
