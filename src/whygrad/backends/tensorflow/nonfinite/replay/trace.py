"""A replayed step: every value with the op that made it, and the walk from a bad end back to where it was born."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.measure.finite import bytes_of, elements_of, is_finite
from whygrad.source import SourceSpan
from whygrad.source.position import Position

Place = Position | SourceSpan | None

SHARE_OF_MEMORY = 0.5  # of what is free when a replay begins


class ReplayError(Exception):
    """A step cannot be run again; the text says why."""


class Site(NamedTuple):
    """Where in the user's code an op belongs."""

    place: Place
    layers: tuple[str, ...] = ()
    is_seen: bool = True  # False: the op was made inside a gradient or an update, and the place is around it
    replica: int = 0


@dataclass(slots=True, eq=False, repr=False)
class Value:
    """One tensor of a replay. `maker` None: it came in from outside."""

    tensor: Any
    maker: Node | None = None
    number: int | None = None  # the id of the tensor in the user's own run
    handle: int | None = None  # set for a read of a variable
    _bad: bool | None = None

    @property
    def bad(self) -> bool:
        if self._bad is None:
            self._bad = not is_finite(self.tensor)
        return self._bad

    @property
    def array(self) -> Any:
        """The elements; None where they cannot be looked at."""
        return elements_of(self.tensor)

    @property
    def mask(self) -> Any:
        """Where it is not finite; None where that cannot be looked at."""
        return None if self.array is None else ~np.isfinite(self.array)

    @property
    def nans(self) -> Any:
        """Where it is NaN; None where there is no such thing, or it cannot be looked at."""
        array = self.array
        return np.isnan(array) if array is not None and array.dtype.kind in "fcV" else None

    @property
    def has_nan(self) -> bool:
        return self.nans is not None and bool(self.nans.any())

    def guess(self, maker: Node) -> None:
        """A list or an optional cannot be looked into: it is bad if anything was put in that is."""
        if getattr(self.tensor, "dtype", None) is compat.variant_dtype and self._bad is None:
            self._bad = any(each is not None and each.bad for each in maker.inputs)


@dataclass(slots=True, eq=False, repr=False)
class Node:
    """One op that was run again, or one step of the way back."""

    type: str
    inputs: tuple[Value | None, ...]
    site: Site
    attrs: Any = ()
    forward: Node | None = None  # the op whose gradient this is
    incoming: tuple[Value | None, ...] = ()  # gradients that come in; empty for forward ops
    outputs: tuple[Value | None, ...] = ()
    order: int = 0


class Trace:
    """All nodes of a replay in the order they ran, and the values by the id of the user's own tensors."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.values: dict[int, Value] = {}
        self.is_exact = True  # False: random numbers were drawn again, or what others gave is not known
        self.tries = (
            0  # times that it was run with other random numbers, or rounded otherwise, until the same trouble came
        )
        self.is_rounded_otherwise = False
        self.somebody_missing = False  # replicas of other processes took part, and what they gave is not known
        self._room = room_for_values()

    def add(self, node: Node, results: Iterable[Any]) -> Node:
        node.order = len(self.nodes)
        node.outputs = tuple(self._result(result, node) for result in results)
        self.nodes.append(node)
        return node

    def _result(self, result: Any, node: Node) -> Value | None:
        if result is None:
            return None
        value = result if isinstance(result, Value) else Value(result, node)
        value.guess(node)
        self._room -= bytes_of(value.tensor)
        if self._room < 0:  # all values of the step are held at once, which training itself never does
            raise ReplayError("the step, op by op, takes more memory than there is")
        number = compat.id_of(value.tensor)
        if number is not None:
            self.values.setdefault(number, value)
        return value


def room_for_values() -> float:
    """Bytes that the values of a step may take."""
    return SHARE_OF_MEMORY * _free_memory()


def _free_memory() -> float:
    """Bytes; without an end where the system does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(float(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, ValueError, IndexError, StopIteration):
        return float("inf")


def births(ends: Iterable[Value], is_bad: Callable[[Value], bool] = lambda value: value.bad) -> list[Value]:
    """The bad values that these ends are bad because of, in order: made from finite ones, or from outside.

    What is not finite but was masked on the way is not among them.
    """
    found: list[Value] = []
    todo = [end for end in ends if is_bad(end)]
    seen = set(map(id, todo))
    while todo:
        value = todo.pop()
        causes = _causes(value.maker, is_bad) if value.maker is not None else []
        if not causes:
            found.append(value)
        for cause in causes:
            if id(cause) not in seen:
                seen.add(id(cause))
                todo.append(cause)
    return sorted(found, key=lambda value: -1 if value.maker is None else value.maker.order)


def _causes(node: Node, is_bad: Callable[[Value], bool]) -> list[Value]:
    """A gradient that comes in bad explains more than the forward values it meets."""
    incoming = [value for value in node.incoming if value is not None and is_bad(value)]
    if incoming:
        return incoming
    others = [value for value in node.inputs if value is not None and is_bad(value)]
    if node.incoming and node.forward is not None:
        others += [value for value in node.forward.outputs if value is not None and is_bad(value)]
    return others
