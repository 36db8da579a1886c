"""Which function graphs an op runs."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterator
from types import FrameType
from typing import Any

from whygrad.backends.tensorflow import compat

FUNCTIONAL_OPS = {
    "While": ("body", "cond"),
    "StatelessWhile": ("body", "cond"),
    "If": ("then_branch", "else_branch"),
    "StatelessIf": ("then_branch", "else_branch"),
    "PartitionedCall": ("f",),
    "StatefulPartitionedCall": ("f",),
    "Case": ("branches",),
    "StatelessCase": ("branches",),
}


def functional_graphs(op: Any, graph: Any) -> tuple[Any, ...]:
    """The function graphs a control-flow or call op runs."""
    found = []
    for attribute in FUNCTIONAL_OPS[op.type]:
        value = op.get_attr(attribute)
        for function in value if isinstance(value, list) else [value]:
            definition = compat.function_in(graph, function.name)
            found.append(getattr(definition, "graph", None))
    return tuple(found)


def outermost_handle(handle: int, graph: Any) -> int:
    """The variable's own handle for a handle that a traced function captured."""
    while compat.is_function_graph(graph):
        handle = captured(graph).get(handle, handle)
        graph = graph.outer_graph
    return handle


def captured(graph: Any) -> dict[int, int]:
    """What each captured tensor of a graph stands for; what it was given since is looked up."""
    count, known = _outside.get(graph, (0, {}))
    given = len(graph.inputs)
    if count != given:
        if count > given:
            known.clear()  # it was given others
        new = compat.newest_captures(graph, given if count > given else given - count)
        known.update((compat.tensor_id(inner), compat.tensor_id(outer)) for outer, inner in new)
        _outside[graph] = given, known
    return known


_outside: weakref.WeakKeyDictionary[Any, tuple[int, dict[int, int]]] = weakref.WeakKeyDictionary()


def called_graphs(frame: FrameType | None) -> tuple[Any, ...]:
    """The graph of the function that is being called eagerly, from the caller's own frame."""
    for _ in range(8):
        if frame is None:
            break
        if compat.calls_function(frame.f_code):
            graph = getattr(frame.f_locals.get("self"), "graph", None)
            return () if graph is None else (graph,)
        frame = frame.f_back
    return ()


def graphs_inside(graph: Any) -> Iterator[tuple[Any, bool]]:
    """A graph and all it calls, each once, and whether that is through a branch or loop only."""
    seen: set[int] = set()
    waiting = [(graph, False)]
    while waiting:
        current, conditional = waiting.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current, conditional
        for op in current.get_operations():
            if op.type in FUNCTIONAL_OPS:
                through = conditional or not op.type.endswith("PartitionedCall")
                waiting += [(inner, through) for inner in functional_graphs(op, current)]


class FunctionNumbers:
    """A number for each graph: an address may be used again, a number is not."""

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._count = itertools.count(1)

    def of(self, graph: Any) -> int:
        number = self._known.get(graph)
        if number is None:
            number = self._known[graph] = next(self._count)
        return number
