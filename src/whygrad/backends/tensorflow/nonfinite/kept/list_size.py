"""How much an op on a list of tensors would make: a list is opaque in a graph, but it is there and can be asked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from whygrad.backends.tensorflow import compat
from whygrad.errors import UsageError

MAX_LIST: Final = 1_000_000  # elements of one list
_WIDEST: Final = 16  # bytes of an element of complex128
_SIZES: Final = frozenset({"index", "indices", "num_elements", "size"})
_ALL_AT_ONCE: Final = ("TensorListStack", "TensorListConcat", "TensorListConcatV2", "TensorListGather")


def size_of_list_op(op_type: str, inputs: Sequence[Any], attrs: Sequence[Any]) -> float:
    """Bytes at most; a UsageError where a list would be longer than any step has."""
    names = [argument.name for argument in compat.op_definition(op_type).input_arg]
    given = dict(zip(names, inputs, strict=False))
    for name in _SIZES & given.keys():
        if name != "indices" and given[name].shape.rank != 0:  # TensorFlow itself would end the process
            raise UsageError(f"op `{op_type}` of the step is given {name} that is not a single number")
        if given[name].shape.num_elements() and given[name].numpy().max() > MAX_LIST:
            raise UsageError(f"op `{op_type}` of the step would make a list of more than {MAX_LIST} tensors")
    sides = _element_shape(given)
    if sides is not None:
        return float(_WIDEST * math.prod(sides) * _times(op_type, given))
    if op_type not in _ALL_AT_ONCE:
        return 0.0  # one element, which is there already
    items = _item_sizes(op_type, given["input_handle"], attrs)
    return max(items, default=0.0) * given["indices"].shape.num_elements() if "indices" in given else sum(items)


def _element_shape(given: dict[str, Any]) -> list[int] | None:
    """Of all elements, as the op or the list has it; None where some side is left open."""
    wanted = given["element_shape"].numpy().reshape(-1).tolist() if "element_shape" in given else [-1]
    if min(wanted, default=0) >= 0:
        return list(wanted)
    if "input_handle" not in given:
        return None
    (own,) = compat.run_op("TensorListElementShape", 1, [given["input_handle"]], ("shape_type", compat.int64))
    known = own.numpy().reshape(-1).tolist()
    return known if min(known, default=0) >= 0 else None


def _times(op_type: str, given: dict[str, Any]) -> int:
    if "leading_dims" in given:
        return _length(given["input_handle"]) + int(given["leading_dims"].numpy().clip(0).sum())
    if "indices" in given:
        return int(given["indices"].shape.num_elements())
    return _length(given["input_handle"]) if op_type in _ALL_AT_ONCE else 1


def _length(items: Any) -> int:
    return int(compat.run_op("TensorListLength", 1, [items], ())[0].numpy())


def _item_sizes(op_type: str, items: Any, attrs: Sequence[Any]) -> list[float]:
    """Bytes of the elements that are there; one that was never set could be given any size."""
    kind = dict(zip(attrs[::2], attrs[1::2], strict=True)).get("element_dtype")
    sizes = []
    for index in range(_length(items)):
        try:
            place, shape = compat.int32_tensor(index), compat.int32_tensor(-1)
            (item,) = compat.run_op("TensorListGetItem", 1, [items, place, shape], ("element_dtype", kind))
        except Exception:  # TensorFlow's own class
            raise UsageError(
                f"op `{op_type}` of the step is not run: its list has elements that were never set"
            ) from None
        sizes.append(float(item.shape.num_elements() * item.dtype.size))
    return sizes
