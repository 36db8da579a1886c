"""What becomes of a bad value on its way forward: who takes it, and which select hides it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from whygrad.backends.tensorflow.log.op_table import kind_of
from whygrad.backends.tensorflow.measure.finite import array_of
from whygrad.backends.tensorflow.nonfinite.replay.trace import Node, Trace, Value
from whygrad.graph import OpKind
from whygrad.observe.place import span
from whygrad.source import SourceSpan

PASSING = frozenset({OpKind.CAST, OpKind.MOVE, OpKind.READ})  # the same numbers in another form


def first_taker(trace: Trace, value: Value) -> Node | None:
    """The first op that does more with a value than to hand it on.

    One that the user wrote is preferred to one of the framework, which is shown at the call that trains, and
    where the batch is taken too.
    """
    outside = {place for place in map(_place, _writes(trace, value)) if place is not None}
    known = [node for node in _takers(trace, value) if _place(node) is not None]
    inside = (node for node in known if not any(_is_same_line(node, place) for place in outside))
    return next(inside, None) or next(iter(known), None) or next(_writes(trace, value), None)


def _takers(trace: Trace, value: Value) -> Iterator[Node]:
    handed_on = {id(value)}
    late: list[Node] = []  # what only hands it on, should there be nothing else
    for node in trace.nodes:
        if kind_of(node.type) is OpKind.WRITE or not any(id(each) in handed_on for each in node.inputs):
            continue
        made_bad = [id(each) for each in node.outputs if each is not None and each.bad]
        if not made_bad:
            continue  # it only asks whether the value is finite
        if kind_of(node.type) in PASSING and node.forward is None:
            handed_on.update(made_bad)
            late.append(node)
        else:
            yield node
    yield from late


def _writes(trace: Trace, value: Value) -> Iterator[Node]:
    """Of ours, which keep the batch."""
    uses = (node for node in trace.nodes if any(each is value for each in node.inputs))
    return (node for node in uses if kind_of(node.type) is OpKind.WRITE)


def _place(node: Node) -> SourceSpan | None:
    return span(node.site.place)


def _is_same_line(node: Node, place: SourceSpan) -> bool:
    own = _place(node)
    return own is not None and own.file == place.file and own.contains_line(place.line)


def masking_select(trace: Trace, forward: Node, node: Node, value: Value) -> Node | None:
    """The first select after `forward` that takes the other branch wherever a result of `node` is bad.

    What runs after a step of the way back (clips, updates) hides nothing from it, nor what makes the loss bad. Of a NaN
    that the forward pass makes, the infinities beside it may be there on purpose, as the logarithm of no chance. No
    select hides what the loss drops in another way besides, as a maximum does.
    """
    only_nan = node.forward is None and value.has_nan
    mask = value.nans if only_nan else value.mask
    last = next((each.forward for each in trace.nodes if each.forward is not None), None)  # the way back begins there
    is_hidden = last is not None and not any(value is not None and value.bad for value in last.outputs)
    if mask is None or not (is_hidden or node.forward):
        return None
    users = _users(trace.nodes if node.forward is None else trace.nodes[: node.order])
    reached = {id(value) for value in forward.outputs if value is not None}
    mixed: set[int] = set()  # behind products of matrices, whose elements are no longer those of before
    todo: list[Any] = [value for value in forward.outputs if value is not None]
    is_bad_ahead = any(value is not None and value.bad for value in forward.outputs)
    select, dropped = None, set[int]()  # the results in which nothing bad is left, by no select
    while todo:
        taken = id(todo.pop(0))
        for user in users.get(taken, ()):
            selects = kind_of(user.type) is OpKind.SELECT
            results = [value for value in user.outputs if value is not None]
            if selects and _skips(user, reached, mask, node, apart=taken in mixed, only_nan=only_nan):
                if not is_bad_ahead:
                    return user
                select = select or user
            elif is_bad_ahead and not any(value.has_nan if only_nan else value.bad for value in results):
                dropped.update(map(id, () if selects else results))
            else:
                fresh = [value for value in results if id(value) not in reached]
                reached.update(map(id, fresh))
                todo += fresh
                if taken in mixed or kind_of(user.type) is OpKind.CONTRACT:
                    mixed.update(map(id, fresh))
    in_loss = {id(value) for each in trace.nodes if each.forward is not None for value in each.forward.outputs}
    return None if dropped & in_loss else select


def _users(nodes: list[Node]) -> dict[int, list[Node]]:
    found: dict[int, list[Node]] = defaultdict(list)
    for node in nodes:
        if node.forward is None:
            for value in node.inputs:
                found[id(value)].append(node)
    return found


def _skips(select: Node, reached: set[int], mask: Any, node: Node, *, apart: bool, only_nan: bool) -> bool:
    condition, first, second = select.inputs[:3]
    if condition is None or (id(first) in reached) == (id(second) in reached):
        return False
    if any(given is not None and (given.has_nan if only_nan else given.bad) for given in select.outputs):
        return False  # what it gives is bad all the same
    chosen = array_of(condition.tensor)
    taken = chosen if id(first) in reached else ~chosen
    if taken.size == 1 or (taken.shape == mask.shape and not apart):
        return not bool(np.logical_and(taken, mask).any())
    came = [value.array for value in node.incoming if value is not None]
    same = [array for array in came if array is not None and array.shape == mask.shape]
    if same:
        return all(not array[mask].any() for array in same)
    return not apart and not bool(taken.all())
