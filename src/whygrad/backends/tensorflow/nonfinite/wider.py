"""Whether a narrow float is the cause: the same op once more in float32."""

from __future__ import annotations

from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.measure.finite import is_finite
from whygrad.backends.tensorflow.nonfinite.pure_ops import has_pure_gradient, is_pure
from whygrad.backends.tensorflow.nonfinite.replay.trace import Node, Value

HALF = "float16"


def is_finite_when_wider(node: Node, value: Value) -> bool:
    """True where a float16 op overflowed and the same op in float32 does not."""
    tensor = getattr(value.tensor, "values", value.tensor)
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
