"""What is written down of one op, of one tensor, of one traced function."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

from whygrad.source import SourceSpan
from whygrad.source.position import Position

Place = Position | SourceSpan | None
CUSTOM = "CustomGradient"


class TensorFacts(NamedTuple):
    id: int
    dtype: Any  # TensorFlow's DType, interned
    shape: tuple[int | None, ...] | None


class OpRecord:
    """One op that ran or was traced."""

    __slots__ = (
        "attrs",
        "blocked",
        "callers",
        "calls",
        "custom",
        "inputs",
        "laid_at",
        "layers",
        "outputs",
        "place",
        "sequence",
        "tapes",
        "type",
    )

    def __init__(self, sequence: int, op_type: str, inputs: tuple[int, ...], outputs: tuple[TensorFacts, ...]) -> None:
        self.sequence = sequence
        self.type = op_type
        self.inputs = inputs
        self.outputs = outputs
        self.place: Place = None
        self.laid_at: OpRecord | None = None  # the forward op whose gradient this op is a part of
        self.callers: tuple[Position, ...] = ()  # user frames around the place, innermost first
        self.tapes: tuple[int, ...] = ()
        self.layers: tuple[str, ...] = ()  # the layers whose calls it ran in, outermost first
        self.attrs: Any = None
        self.calls: tuple[Any, ...] = ()  # the function graphs this op runs
        self.custom: str | None = None
        self.blocked: frozenset[int] | None = None  # CUSTOM and GRADIENT: inputs that get None


class Leaf(NamedTuple):
    """A tensor that no op made: it came in from Python, NumPy or a data set."""

    facts: TensorFacts
    sequence: int
    place: Place
    array: weakref.ref[Any] | None = None


class Departure(NamedTuple):
    """A value that left TensorFlow."""

    tensor: int
    how: str
    sequence: int
    place: Place
    array: weakref.ref[Any] | None


class TraceLog:
    """The ops of one function graph, in the order they were traced."""

    __slots__ = ("leaves", "records")

    def __init__(self) -> None:
        self.records: list[OpRecord] = []
        self.leaves: dict[int, Leaf] = {}


def facts_of(tensor: Any) -> TensorFacts:
    try:
        shape = tensor._shape_tuple()
    except Exception:  # an unknown rank raises in some versions
        shape = None
    return TensorFacts(tensor._id, tensor.dtype, shape)
