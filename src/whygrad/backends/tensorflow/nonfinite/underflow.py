"""Gradients that are lost in the backward pass because float16 has no numbers that small."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from whygrad.backends.tensorflow.nonfinite.replay.trace import Node, Trace, Value
from whygrad.graph import VariableId
from whygrad.graph.nonfinite import Occurrence, Scaled, Scaling
from whygrad.observe.place import span

HALF = "float16"


def largest_loss(trace: Trace, gradients: Iterable[tuple[int | None, Value]], request: Any) -> Scaled | None:
    """The cast to float16 that turns most elements into zero, and the variables whose whole gradient is zero."""
    rated = [(lost, of, node) for node in trace.nodes for lost, of in _losses(node)]
    lost, of, node = max(rated, key=lambda each: each[0], default=(0, 0, None))
    if node is None or not lost:
        return None
    pairs = [(variable, array) for variable, value in gradients if (array := _array(value)) is not None]
    return Scaled(
        how=Scaling.CAST,
        where=span(node.site.place),
        lost=lost,
        of=of,
        variables=tuple(VariableId(variable) for variable, array in pairs if variable is not None and not array.any()),
        when=Occurrence(request=span(request)),
    )


def _losses(node: Node) -> Iterator[tuple[int, int]]:
    """Elements that a cast of the backward pass makes zero, and how many were not zero before."""
    if node.type != "Cast" or node.forward is None:
        return
    came = next(iter(node.incoming or node.inputs), None)
    result = next(iter(node.outputs), None)
    if came is None or result is None or _dtype(result) != HALF or _dtype(came) == HALF:
        return
    before, after = _array(came), _array(result)
    if before is not None and after is not None and before.shape == after.shape:
        alive = before != 0
        yield int((alive & (after == 0)).sum()), int(alive.sum())


def _dtype(value: Value) -> str:
    return str(getattr(getattr(value.tensor, "dtype", None), "name", ""))


def _array(value: Value | None) -> Any:
    array = None if value is None else value.array
    return array if array is not None and array.dtype.kind in "fV" else None
