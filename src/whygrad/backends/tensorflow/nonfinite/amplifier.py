"""A finite but huge gradient: the normalisation of a vector near zero that made it so."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.backends.tensorflow.log.op_table import kind_of
from whygrad.backends.tensorflow.log.positions import span
from whygrad.backends.tensorflow.nonfinite.finite import array_of
from whygrad.backends.tensorflow.nonfinite.replay.replayed import Replayed
from whygrad.backends.tensorflow.nonfinite.replay.trace import Node, Value
from whygrad.graph import OpKind
from whygrad.graph.nonfinite import GradientAmplified

FACTOR = 1e4  # by which one step of the way back must enlarge a gradient
DEPTH = 6  # ops between a normalisation's product and its root


def find_amplifier(replayed: Replayed) -> GradientAmplified | None:
    """The step of the way back that enlarges the gradient most, if it divides by a norm near zero."""
    replayed.sweep_back()
    steps = [node for node in replayed.trace.nodes if node.incoming and node.forward is not None]
    rated = [(_factor(node), node) for node in steps if kind_of(node.type) in (OpKind.ELEMENTWISE, OpKind.DIVIDE)]
    factor, node = max(rated, key=lambda each: each[0], default=(0.0, None))
    if node is None or node.forward is None or factor < FACTOR:
        return None
    root = _root_behind(node.forward)
    if root is None:
        return None
    return GradientAmplified(
        name=root.type,
        where=span(node.site.place),
        factor=factor,
        largest=max(_largest(value) for value in node.outputs),
        norm=_smallest_norm(root),
        rows=_rows(node),
    )


def _factor(node: Node) -> float:
    came = max((_largest(value) for value in node.incoming), default=0.0)
    return max((_largest(value) for value in node.outputs), default=0.0) / came if came else 0.0


def _largest(value: Value | None) -> float:
    array = _array(value)
    return float(np.abs(array).max()) if array is not None and array.size else 0.0


def _array(value: Value | None) -> Any:
    if value is None:
        return None
    array = array_of(getattr(value.tensor, "values", value.tensor))
    return array if array is not None and array.dtype.kind == "f" else None


def _root_behind(node: Node) -> Node | None:
    """The square root of a sum that the factor comes from."""
    todo = [(value, DEPTH) for value in node.inputs]
    while todo:
        value, depth = todo.pop(0)
        maker = None if value is None else value.maker
        if maker is None or not depth:
            continue
        if kind_of(maker.type) is OpKind.SQRT or maker.type == "EuclideanNorm":
            return maker if maker.type == "EuclideanNorm" or _sums(maker, DEPTH) else None
        todo += [(each, depth - 1) for each in maker.inputs]
    return None


def _sums(node: Node, depth: int) -> bool:
    makers = [value.maker for value in node.inputs if value is not None and value.maker is not None]
    return depth > 0 and any(kind_of(maker.type) is OpKind.REDUCE or _sums(maker, depth - 1) for maker in makers)


def _smallest_norm(root: Node) -> float:
    """Of what is under the root, before a floor was put below it."""
    under = _array(root.inputs[0]) if root.inputs else None
    return 0.0 if under is None or not under.size else float(np.sqrt(max(float(under.min()), 0.0)))


def _rows(node: Node) -> tuple[int, ...]:
    for value in node.outputs:
        array = _array(value)
        if array is not None and array.ndim:
            flat = np.abs(array).reshape(len(array), -1).max(axis=1)
            return tuple(int(row) for row in np.nonzero(flat > flat.max() / 10)[0][:8])
    return ()
