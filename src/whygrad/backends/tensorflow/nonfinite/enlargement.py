"""A finite but large gradient: the op of the backward pass that enlarged it most."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.backends.tensorflow.log.op_table import kind_of
from whygrad.backends.tensorflow.nonfinite.feeders import feeders_of
from whygrad.backends.tensorflow.nonfinite.replay.replayed import Replayed
from whygrad.backends.tensorflow.nonfinite.replay.trace import Node, Value
from whygrad.backends.tensorflow.nonfinite.watched import ShownAt
from whygrad.graph import OpKind
from whygrad.graph.nonfinite import Scaled, Scaling
from whygrad.observe.place import span

ROWS_SHOWN = 8


def largest_enlargement(shown_at: ShownAt, replayed: Replayed) -> Scaled | None:
    """Of the products and quotients of the backward pass, the one that enlarges the gradient most."""
    replayed.sweep_back()
    nodes = [node for node in replayed.trace.nodes if node.incoming and node.forward is not None]
    rated = [(_factor(node), node) for node in nodes if kind_of(node.type) in (OpKind.ELEMENTWISE, OpKind.DIVIDE)]
    factor, node = max(rated, key=lambda each: each[0], default=(0.0, None))
    if node is None or node.forward is None:
        return None
    return Scaled(
        how=Scaling.ENLARGED,
        where=span(node.site.place),
        factor=factor,
        largest=max(_largest(value) for value in node.outputs),
        fed_by=feeders_of(shown_at, node.forward),
        rows=_rows(node),
    )


def _factor(node: Node) -> float:
    came = max((_largest(value) for value in node.incoming), default=0.0)
    return max((_largest(value) for value in node.outputs), default=0.0) / came if came else 0.0


def _largest(value: Value | None) -> float:
    array = _array(value)
    return float(np.abs(array).max()) if array is not None and array.size else 0.0


def _array(value: Value | None) -> Any:
    array = None if value is None else value.array
    return array if array is not None and array.dtype.kind == "f" else None


def _rows(node: Node) -> tuple[int, ...]:
    """The rows of the gradient with elements within a tenth of the largest."""
    for value in node.outputs:
        array = _array(value)
        if array is not None and array.ndim:
            flat = np.abs(array).reshape(len(array), -1).max(axis=1)
            return tuple(int(row) for row in np.nonzero(flat > flat.max() / 10)[0][:ROWS_SHOWN])
    return ()
