"""Where the inputs of a join go to, and where the outputs of a split lay, along the first axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.observe.fact import Extent


def extents_of(op_type: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> tuple[Extent | None, ...]:
    """Of an op that joins or splits; empty where it is not known, or is along another axis."""
    if op_type == "Pack":
        return tuple((i, i + 1) for i in range(len(inputs)))
    if op_type == "Unpack":
        return tuple((i, i + 1) for i in range(len(outputs)))
    if op_type == "ConcatV2":
        return _in_a_row(inputs[:-1]) if _integers(inputs[-1]) == [0] else ()
    if op_type in ("Split", "SplitV"):
        return _in_a_row(outputs)
    first = _integers(inputs[1])
    if not first or (op_type == "GatherV2" and len(first) > 1):
        return ()
    length = 1 if op_type == "GatherV2" or _loses_axis(inputs[0], outputs[0]) else _length(outputs[0])
    return () if length is None else ((first[0], first[0] + length),)


def _in_a_row(tensors: Sequence[Any]) -> tuple[Extent | None, ...]:
    lengths = [_length(tensor) for tensor in tensors]
    return () if None in lengths else tuple(_summed(lengths))


def _summed(lengths: Sequence[int | None]) -> Iterator[Extent]:
    start = 0
    for length in lengths:
        yield start, start + (length or 0)
        start += length or 0


def _loses_axis(whole: Any, piece: Any) -> bool:
    before, after = whole.shape.rank, piece.shape.rank
    return before is not None and after is not None and after == before - 1


def _length(tensor: Any) -> int | None:
    shape = tensor.shape
    length: int | None = shape[0] if shape.rank else None
    return length


def _integers(tensor: Any) -> list[int] | None:
    """The numbers of a small constant."""
    value = compat.constant_value(tensor)
    return None if value is None else [int(number) for number in value.ravel()]
