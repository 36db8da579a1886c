"""The order in which the ops of a traced function can be run one by one."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable
from typing import Any


def ops_in_order(graph: Any) -> list[Any]:
    """The ops that the outputs and the side effects need, each after those it needs itself.

    In the order they were traced as far as that goes: the gradient of a loop gives the loop new inputs afterwards.
    """
    ends = [tensor.op for tensor in graph.outputs] + list(getattr(graph, "control_outputs", ()))
    before = _dependencies(ends, graph)
    ready = [
        (i, name) for i, operation in enumerate(graph.get_operations()) if not before.get(name := operation.name, 1)
    ]
    heapq.heapify(ready)
    after: dict[str, list[str]] = defaultdict(list)
    for name, needs in before.items():
        for need in needs:
            after[need].append(name)
    position = {operation.name: i for i, operation in enumerate(graph.get_operations())}
    order = []
    while ready:
        _, name = heapq.heappop(ready)
        order.append(graph.get_operation_by_name(name))
        for follower in after[name]:
            before[follower].discard(name)
            if not before[follower]:
                heapq.heappush(ready, (position[follower], follower))
    return order


def _dependencies(ends: Iterable[Any], graph: Any) -> dict[str, set[str]]:
    """Every op that these need, with the names of those that must run before it."""
    found: dict[str, set[str]] = {}
    todo = list(ends)
    while todo:
        operation = todo.pop()
        if operation.name in found or operation.graph is not graph:
            continue
        needs = [tensor.op for tensor in operation.inputs] + list(operation.control_inputs)
        found[operation.name] = {each.name for each in needs}
        todo.extend(needs)
    return found
