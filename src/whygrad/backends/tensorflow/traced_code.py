"""The user's functions that were traced, and the Python numbers they saw then."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from types import CellType, FrameType
from typing import Any, NamedTuple

_TRACING = ("func_graph.py", "tracing_compilation.py", "structured_function.py")


class TracedCode(NamedTuple):
    """One function, as it was when it was last traced."""

    place: Any
    owner: weakref.ref[Any] | None  # the object whose method it is
    scope: dict[str, Any]  # its globals, alive
    graph: weakref.ref[Any] | None
    numbers: dict[str, float]  # globals and closed-over names that held a number
    cells: dict[str, CellType]  # of the closed-over names
    inside: bool  # it runs while tracing; False: it called something that was traced

    def changed(self) -> Iterator[str]:
        """Names that hold another number now."""
        for name, before in self.numbers.items():
            now = self._now(name)
            if is_number(now) and now != before:
                yield name

    def _now(self, name: str) -> Any:
        if name not in self.cells:
            return self.scope.get(name)
        try:
            return self.cells[name].cell_contents
        except ValueError:  # emptied
            return None


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_news(known: TracedCode | None, graph: Any) -> bool:
    """Whether the code is traced for the first time, or anew."""
    return known is None or known.graph is None or known.graph() is not graph


def traced_code(op: FrameType, frame: FrameType, place: Any, graph: Any) -> TracedCode:
    """Of the user's frame around an op that is being traced."""
    code, scope = frame.f_code, frame.f_globals
    cells = _cells(frame) if code.co_freevars else {}
    values: dict[str, Any] = {name: scope.get(name) for name in code.co_names} | {
        n: _content(cell) for n, cell in cells.items()
    }
    numbers = {name: value for name, value in values.items() if is_number(value)}
    return TracedCode(place, _owner_of(frame), scope, _weakly(graph), numbers, cells, _is_inside(op, frame))


def _is_inside(op: FrameType, frame: FrameType) -> bool:
    """Whether a frame is part of what is traced, not the one that called it; a lambda has no statements to look at."""
    if frame.f_code.co_name == "<lambda>":
        return False
    current: FrameType | None = op
    while current is not None and current is not frame:
        if current.f_code.co_filename.endswith(_TRACING):
            return False
        current = current.f_back
    return True


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
