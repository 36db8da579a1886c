"""A select that hides bad elements on the way forward: it takes the other branch wherever they are."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from whygrad.backends.tensorflow.log.op_table import kind_of
from whygrad.backends.tensorflow.measure.finite import array_of
from whygrad.backends.tensorflow.nonfinite.replay.trace import Node, Trace
from whygrad.graph import OpKind


def masking_select(trace: Trace, forward: Node, node: Node, mask: Any) -> Node | None:
    """The first select after `forward` that takes the other branch wherever a result of `node` is bad."""
    if mask is None:
        return None
    users = _users(trace)
    reached = {id(value) for value in forward.outputs if value is not None}
    todo: list[Any] = [value for value in forward.outputs if value is not None]
    while todo:
        for user in users.get(id(todo.pop(0)), ()):
            if kind_of(user.type) is OpKind.SELECT and _skips(user, reached, mask, node):
                return user
            for value in user.outputs:
                if value is not None and id(value) not in reached:
                    reached.add(id(value))
                    todo.append(value)
    return None


def _users(trace: Trace) -> dict[int, list[Node]]:
    found: dict[int, list[Node]] = defaultdict(list)
    for node in trace.nodes:
        if node.forward is None:
            for value in node.inputs:
                found[id(value)].append(node)
    return found


def _skips(select: Node, reached: set[int], mask: Any, node: Node) -> bool:
    condition, first, second = select.inputs[:3]
    if condition is None or (id(first) in reached) == (id(second) in reached):
        return False
    chosen = array_of(condition.tensor)
    taken = chosen if id(first) in reached else ~chosen
    if taken.shape == mask.shape or taken.size == 1:
        return not bool(np.logical_and(taken, mask).any())
    came = [value.array for value in node.incoming if value is not None]
    same = [array for array in came if array is not None and array.shape == mask.shape]
    if same:
        return all(not array[mask].any() for array in same)
    return not bool(taken.all())
