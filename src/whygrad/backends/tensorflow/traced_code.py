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
    numbers: dict[str, float]  # globals and closed-over names that held a number
    cells: dict[str, CellType]  # of the closed-over names
    holders: dict[str, int]  # names and attributes (`self.net`) that held something with variables, by its id

    def changed(self) -> Iterator[str]:
        """Names that hold another number now."""
        for name, before in self.numbers.items():
            now = self._now(name)
            if is_number(now) and now != before:
                yield name

    def replaced(self) -> Iterator[tuple[str, Any]]:
        """Names that hold another network or optimizer now, and what they hold."""
        for name, before in self.holders.items():
            now = self._now(name)
            if has_variables(now) and id(now) != before:
                yield name, now

    def _now(self, name: str) -> Any:
        if name.startswith("self."):
            owner = None if self.owner is None else self.owner()
            return getattr(owner, name.removeprefix("self."), None)
        if name not in self.cells:
            return self.scope.get(name)
        try:
            return self.cells[name].cell_contents
        except ValueError:  # emptied
            return None


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def outermost(graph: Any) -> Any:
    """The function that is traced, for the graph of a branch or loop in it."""
    while hasattr(getattr(graph, "outer_graph", None), "captures"):
        graph = graph.outer_graph
    return graph


def is_news(known: TracedCode | None, graph: Any) -> bool:
    """Whether the code is traced for the first time, or anew."""
    return known is None or known.graph is None or known.graph() is not graph


def traced_code(frame: FrameType, place: Any, graph: Any) -> TracedCode:
    code, scope = frame.f_code, frame.f_globals
    cells = _cells(frame) if code.co_freevars else {}
    values: dict[str, Any] = {name: scope.get(name) for name in code.co_names} | {
        n: _content(cell) for n, cell in cells.items()
    }
    numbers = {name: value for name, value in values.items() if is_number(value)}
    own = getattr(frame.f_locals.get("self"), "__dict__", {})
    values |= {f"self.{name}": own[name] for name in code.co_names if name in own}
    holders = {name: id(value) for name, value in values.items() if has_variables(value)}
    return TracedCode(place, _owner_of(frame), scope, _weakly(graph), numbers, cells, holders)


def has_variables(value: Any) -> bool:
    """Whether it is a layer, a model, a module or an optimizer, and no class of such."""
    return not isinstance(value, type) and (
        hasattr(type(value), "trainable_variables") or hasattr(type(value), "apply_gradients")
    )


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
