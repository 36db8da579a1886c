"""float16: gradients that are lost because it has no numbers that small, and ops that overflow in it alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.measure.finite import is_finite
from whygrad.backends.tensorflow.nonfinite.pure_ops import has_pure_gradient, is_pure
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


def is_finite_when_wider(node: Node, value: Value) -> bool:
    """True where a float16 op overflowed and the same op in float32 does not."""
    tensor = compat.values_in(value.tensor)
    if tensor.dtype.name != HALF:
        return False
    forward = node.forward or node
    if forward.type == "Cast":
        return True  # either way the wider side held it
    if not (has_pure_gradient if node.incoming else is_pure)(forward.type):
        return False  # it is not run a second time
    try:
        results = _gradient(node) if node.incoming else _forward(node)
    except Exception:  # an op that has no float32 form
        return False
    return bool(results) and all(is_finite(result) for result in results)


def _forward(node: Node) -> list[Any]:
    inputs = [_widened(value.tensor) for value in node.inputs if value is not None]
    return compat.run_op(node.type, len(node.outputs), inputs, _wide_attrs(node.attrs))


def _gradient(node: Node) -> list[Any]:
    forward = node.forward
    assert forward is not None
    function = compat.gradient_registry.lookup(forward.type)
    ins = [_widened(value.tensor) if value is not None else None for value in forward.inputs]
    outs = [_widened(value.tensor) if value is not None else None for value in forward.outputs]
    came = [_widened(value.tensor) if value is not None else None for value in node.incoming]
    answer = function(compat.MockOp(_wide_attrs(forward.attrs), ins, outs, forward.type, ()), *came)
    return [each for each in (answer if isinstance(answer, (list, tuple)) else [answer]) if each is not None]


def _widened(tensor: Any) -> Any:
    if tensor.dtype.name != HALF:
        return tensor
    return compat.run_op("Cast", 1, [tensor], ("SrcT", tensor.dtype, "DstT", compat.float32, "Truncate", False))[0]


def _wide_attrs(attrs: Any) -> tuple[Any, ...]:
    """The type attributes that said float16 say float32."""
    changed = list(attrs or ())
    for i in range(1, len(changed), 2):
        if isinstance(changed[i], int) and not isinstance(changed[i], bool) and changed[i] == compat.float16_number:
            changed[i] = compat.float32_number if _is_type(changed[i - 1]) else changed[i]
        elif getattr(changed[i], "name", None) == HALF:
            changed[i] = compat.float32
    return tuple(changed)


def _is_type(name: Any) -> bool:
    """By convention the type attributes of ops are `T`, `Tidx`, `SrcT`, `dtype`, ..."""
    text = name.decode() if isinstance(name, bytes) else str(name)
    return text.startswith("T") or text.endswith("T") or "type" in text
