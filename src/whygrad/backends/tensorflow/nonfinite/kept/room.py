"""How much memory the ops of a kept step would take, known before each of them runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.compat.rehearsal import known_numbers, put_in_graph, rehearsed
from whygrad.backends.tensorflow.nonfinite.kept.list_size import size_of_list_op
from whygrad.backends.tensorflow.nonfinite.pure_ops import is_pure
from whygrad.backends.tensorflow.nonfinite.replay.trace import room_for_values
from whygrad.errors import UsageError

MAX_BYTES: Final = 16 * 2**30  # also where the system does not say how much is free
_UNTOLD_FACTOR: Final = 16  # for what is bounded by its inputs: more bytes an element, a coordinate for each side

_BOUNDED: Final = re.compile(
    r"Where|Unique|ListDiff|DynamicPartition|NonMaxSuppression|InvertPermutation|Sparse(Slice|Add|Sparse|Split|Reduce|Concat)"
    r"|SparseMatrix|CSRSparseMatrix|RaggedGather|Dense(To|Count)|CTC|TensorMap|Optional|BroadcastGradientArgs"
)
_LISTS: Final = ("TensorList", "EmptyTensorList")
_ALSO_IN_GRAPHS: Final = (
    "Const",
    "NoOp",
    "StatelessIf",
)  # where an eager gradient function has a Python value, or an `if`
_GROWING: Final = frozenset({"BroadcastTo", "Fill", "OneHot", "Pad", "PadV2", "Range", "ScatterNd", "Tile"})


class Room:
    """What is left for the values of a step, all of which are held at once."""

    def __init__(self) -> None:
        self._left = min(MAX_BYTES, room_for_values())
        self._sizes: dict[Any, float] = {}  # of what was asked before: a loop asks for the same many times

    def take(self, tensors: Sequence[Any]) -> None:
        """Values that are there now."""
        size = sum(_size(each.shape, each.dtype) or 0.0 for each in map(compat.values_in, tensors) if each is not None)
        self._left -= size
        if self._left < 0:
            raise UsageError("the values of the step take more memory than there is")

    def ask_for_op(self, op_type: str, inputs: Sequence[Any], attrs: Sequence[Any]) -> None:
        """Raise a UsageError where an op would make more than there is room for, or than can be told."""
        if any(tensor.dtype in compat.not_numbers for tensor in inputs):
            raise UsageError(f"op `{op_type}` of the step works on text or handles, which is never run again")
        key = (op_type, repr(attrs), *map(_looks, inputs))
        if key not in self._sizes:
            self._sizes[key] = _rehearsed_size(op_type, inputs, attrs)
        of_list = size_of_list_op(op_type, inputs, attrs) if op_type.startswith(_LISTS) else 0.0
        self._ask(op_type, self._sizes[key] + of_list)

    def ask_for_gradient(self, op_type: str, run: Callable[[Sequence[Any]], Any], tensors: Sequence[Any]) -> None:
        """The same for a gradient function, which runs ops of its own choice."""
        for op in rehearsed(run, tensors):
            if op.type not in _ALSO_IN_GRAPHS and not is_pure(op.type):
                raise UsageError(f"op `{op.type}` in the gradient of `{op_type}` is not run: it may have an effect")
            for output in op.outputs:
                size = _size(output.shape, output.dtype)
                if size is None and op.type in _GROWING:
                    raise UsageError(f"the gradient of `{op_type}` is not run: how much it would make is not known")
                self._ask(op_type, size or 0.0)

    def _ask(self, op_type: str, size: float) -> None:
        if size > self._left:
            raise UsageError(
                f"op `{op_type}` of the step would make {size / 2**30:.3g} GB, more than there is room for"
            )


def _rehearsed_size(op_type: str, inputs: Sequence[Any], attrs: Sequence[Any]) -> float:
    """Bytes that an op would make, nothing for lists; a UsageError where that cannot be told."""
    if op_type == "Range" and not inputs[0].dtype.is_integer:  # only whole numbers are known in the graph
        start, limit, step = (float(each.numpy()) for each in inputs)
        return 8 * abs((limit - start) / step) if step else 0.0
    made = rehearsed(lambda given: put_in_graph(op_type, given, attrs), inputs)
    sizes = [_size(output.shape, output.dtype) for output in made[-1].outputs]
    if all(size is not None for size in sizes):
        return sum(size or 0.0 for size in sizes)
    if op_type.startswith(_LISTS):
        return 0.0
    if _BOUNDED.match(op_type):
        return _UNTOLD_FACTOR * sum(_size(each.shape, each.dtype) or 0.0 for each in inputs)
    raise UsageError(f"op `{op_type}` of the step is not run: how much it would make is not known")


def _looks(tensor: Any) -> tuple[Any, ...]:
    """All of a tensor that a rehearsal depends on."""
    known = known_numbers(tensor)
    return tensor.dtype.name, tuple(tensor.shape), None if known is None else known.tobytes()


def _size(shape: Any, dtype: Any) -> float | None:
    """Bytes; None where it is not known."""
    if dtype == compat.variant_dtype:
        return 0.0
    elements = shape.num_elements()
    return None if elements is None else float(elements * dtype.size)
