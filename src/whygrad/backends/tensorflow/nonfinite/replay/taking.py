"""Who takes a bad value that came in from outside into the computation."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.backends.tensorflow.log.op_table import kind_of
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
