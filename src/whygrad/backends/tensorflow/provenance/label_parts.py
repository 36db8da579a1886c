"""Gradients joined in one tensor and taken apart again: stack and unstack, concat and split, slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.provenance.label import Label


class Part(NamedTuple):
    """One gradient inside a joined tensor; its extent along the axis, None for one slice of a stack."""

    label: Label | None
    extent: int | None


JOINING = frozenset({"Pack", "ConcatV2"})
PARTING = frozenset({"Unpack", "Split", "SplitV", "StridedSlice", "Slice", "GatherV2"})


def joined(op_type: str, inputs: Sequence[Any], labels: dict[int, Label]) -> Label | None:
    """The label of a stack or concatenation along the first axis."""
    pieces = list(inputs if op_type == "Pack" else inputs[:-1])
    known = [labels.get(piece._id) for piece in pieces]
    present = [label for label in known if label is not None]
    if not present or any(label.parts for label in present):
        return None
    if op_type == "ConcatV2" and _integers(inputs[-1]) != [0]:
        return None
    extents = [None if op_type == "Pack" else _first_extent(piece) for piece in pieces]
    if op_type == "ConcatV2" and None in extents:
        return None
    variables = frozenset().union(*(label.variables for label in present))
    requests = frozenset().union(*(label.requests for label in present))
    parts = tuple(Part(label, extent) for label, extent in zip(known, extents, strict=True))
    return replace(present[0], variables=variables, requests=requests, parts=parts)


def parted(op_type: str, inputs: Sequence[Any], outputs: Sequence[Any], whole: Label) -> list[Label | None]:
    """The labels of the pieces that an op takes out of a joined tensor."""
    parts = whole.parts
    if op_type == "Unpack":
        return [_piece(whole, parts[i]) if len(outputs) == len(parts) else None for i in range(len(outputs))]
    if op_type in ("Split", "SplitV"):
        return _split(outputs, whole)
    if op_type == "GatherV2":
        index = _integers(inputs[1])
        return [_piece(whole, parts[index[0]]) if _stacked(parts) and index and len(index) == 1 else None]
    first = _integers(inputs[1])
    if not first:
        return [None]
    if _stacked(parts):
        taken = parts[first[0]] if -len(parts) <= first[0] < len(parts) and _takes_one(outputs, inputs) else None
        return [None if taken is None else _piece(whole, taken)]
    extent = _first_extent(outputs[0])
    return [None if extent is None else _between(whole, first[0], first[0] + extent)]


def _split(outputs: Sequence[Any], whole: Label) -> list[Label | None]:
    found: list[Label | None] = []
    start = 0
    for output in outputs:
        extent = _first_extent(output)
        if extent is None:
            return [None] * len(outputs)
        if _stacked(whole.parts):
            found.append(_piece(whole, whole.parts[start]) if extent == 1 and start < len(whole.parts) else None)
        else:
            found.append(_between(whole, start, start + extent))
        start += extent
    return found


def _between(whole: Label, start: int, stop: int) -> Label | None:
    """The gradient that a stretch of a concatenation lies in, if it is one."""
    position = 0
    for part in whole.parts:
        end = position + (part.extent or 0)
        if position <= start and stop <= end and start < stop:
            return _piece(whole, part)
        position = end
    return None


def _piece(whole: Label, part: Part) -> Label | None:
    if part.label is None:
        return None
    return replace(whole, variables=part.label.variables, requests=part.label.requests, parts=())


def _stacked(parts: tuple[Any, ...]) -> bool:
    return parts[0].extent is None


def _takes_one(outputs: Sequence[Any], inputs: Sequence[Any]) -> bool:
    whole, piece = inputs[0].shape.rank, outputs[0].shape.rank
    return whole is not None and piece is not None and (piece == whole - 1 or _first_extent(outputs[0]) == 1)


def _first_extent(tensor: Any) -> int | None:
    shape = tensor.shape
    return None if not shape.rank else shape[0]


def _integers(tensor: Any) -> list[int] | None:
    """The numbers of a small constant."""
    value = compat.constant_value(tensor) if compat.constant_value is not None else None
    return None if value is None else [int(number) for number in value.ravel()]
