"""Gradients joined in one tensor and taken apart again: stack and unstack, concatenate and split, slices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from whygrad.observe.fact import Extent, OpFact
from whygrad.observe.label import Asked, Label, Part


def join(op: OpFact, labels: Mapping[int, Label]) -> Label | None:
    """The label of a stack or concatenation along the first axis."""
    pieces = [
        Part(labels.get(number), extent)
        for number, extent in zip(op.inputs, op.extents, strict=False)
        if extent is not None
    ]
    present = [piece.label for piece in pieces if piece.label is not None]
    if not present or any(label.parts for label in present):
        return None
    return replace(
        present[0],
        variables=frozenset[int]().union(*(label.variables for label in present)),
        requests=frozenset[Asked]().union(*(label.requests for label in present)),
        parts=tuple(pieces),
    )


def split(op: OpFact, whole: Label) -> Iterator[tuple[int, Label]]:
    """The outputs of an op that takes pieces out of a joined tensor, those that lie in one gradient."""
    for fact, extent in zip(op.outputs, op.extents, strict=False):
        label = None if extent is None else _between(whole, extent)
        if label is not None:
            yield fact.id, label


def _between(whole: Label, extent: Extent) -> Label | None:
    """The gradient that a extent lies in, if it is one."""
    start, stop = extent
    if start < 0:  # counted from the end
        length = whole.parts[-1].extent[1]
        start, stop = start + length, stop + length
    for label, (begin, end) in whole.parts:
        if label is not None and begin <= start < stop <= end:
            return replace(whole, variables=label.variables, requests=label.requests, parts=())
    return None
