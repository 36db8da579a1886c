"""The user's functions that were traced, and the Python numbers they saw then."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from types import CellType, FrameType
from typing import Any, NamedTuple


class TracedCode(NamedTuple):
    """One function, as it was when it was last traced."""

    place: Any
    owner: weakref.ref[Any] | None  # the object whose method it is
    scope: dict[str, Any]  # its globals, alive
    graph: weakref.ref[Any] | None
    numbers: dict[str, float]  # closed-over names that held a number
    cells: dict[str, CellType]  # of the closed-over names

    def changed(self) -> Iterator[str]:
        """Names that hold another number now."""
        for name, before in self.numbers.items():
            now = _content(self.cells[name])
            if _is_number(now) and now != before:
                yield name


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def outermost(graph: Any) -> Any:
    """The function that is traced, for the graph of a branch or loop in it."""
    while hasattr(getattr(graph, "outer_graph", None), "captures"):
        graph = graph.outer_graph
    return graph


def is_traced(op: FrameType, user: FrameType) -> bool:
    """Whether a frame of the user's runs while its function is traced; the one that called the function does not."""
    frame: FrameType | None = op
    while frame is not None and frame is not user:
        if frame.f_code.co_name in _TRACING:
            return False
        frame = frame.f_back
    return True


_TRACING = frozenset({"func_graph_from_py_func", "trace_function"})  # what is between a caller and the traced function


def is_news(known: TracedCode | None, graph: Any) -> bool:
    """Whether the code is traced for the first time, or anew."""
    return known is None or known.graph is None or known.graph() is not graph


def traced_code(frame: FrameType, place: Any, graph: Any) -> TracedCode:
    cells = _cells(frame) if frame.f_code.co_freevars else {}
    values = {name: _content(cell) for name, cell in cells.items()}
    numbers = {name: value for name, value in values.items() if _is_number(value)}
    return TracedCode(place, _owner_of(frame), frame.f_globals, _weakly(graph), numbers, cells)


def _cells(frame: FrameType) -> dict[str, CellType]:
    """The cells of a function's closed-over names: AutoGraph runs a copy, the function itself is further out."""
    names = set(frame.f_code.co_freevars)
    outer: FrameType | None = frame
    while outer is not None:
        function: Any = getattr(outer.f_locals.get("self"), "python_function", None)
        closure = getattr(function, "__closure__", None)
        if closure is not None and names & set(function.__code__.co_freevars):
            every = zip(function.__code__.co_freevars, closure, strict=True)
            return {name: cell for name, cell in every if name in names}
        outer = outer.f_back
    return {}


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _owner_of(frame: FrameType) -> weakref.ref[Any] | None:
    return _weakly(frame.f_locals.get("self"))


def _weakly(thing: Any) -> weakref.ref[Any] | None:
    try:
        return None if thing is None else weakref.ref(thing)
    except TypeError:
        return None
