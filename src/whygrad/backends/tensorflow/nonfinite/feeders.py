"""What went into an op of a replay: the ops whose results it took, and those whose results they took."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from whygrad.backends.tensorflow.log.op_table import ACTIONS, kind_of
from whygrad.backends.tensorflow.measure.finite import facts_of_values, is_number
from whygrad.backends.tensorflow.nonfinite.replay.trace import Node, Value
from whygrad.backends.tensorflow.nonfinite.watched import ShownAt
from whygrad.graph import Action, OpKind
from whygrad.graph.nonfinite import Feeder
from whygrad.observe.place import span

NEAREST: Final = 48  # ops, in the order of their distance
MOST: Final = 96  # ops; beyond the nearest, those with the largest results come first
MOST_SEEN: Final = 256


def feeders_of(shown_at: ShownAt, node: Node) -> tuple[Feeder, ...]:
    """With the numbers that went through."""
    found: list[Feeder] = []
    waiting: list[tuple[Value, Feeder]] = []
    seen: set[int] = set()

    def add(values: Iterable[Value | None], into: int | None) -> None:
        for value in values:
            if value is not None and id(value) not in seen and len(seen) < MOST_SEEN:
                seen.add(id(value))
                waiting.append((value, _described(shown_at, value, into)))

    add(node.inputs, None)
    while waiting and len(found) < MOST:
        choice = range(1) if len(found) < NEAREST else range(len(waiting))
        value, feeder = waiting.pop(max(choice, key=lambda i: waiting[i][1].magnitude))
        found.append(feeder)
        add(() if value.maker is None else value.maker.inputs, len(found) - 1)
    return tuple(found)


def _described(shown_at: ShownAt, value: Value, into: int | None) -> Feeder:
    facts = facts_of_values(value.tensor) if is_number(value.tensor) else None
    low, high = (None, None) if facts is None else (facts.low, facts.high)
    maker = value.maker
    if maker is None:
        kind = OpKind.CONSTANT if value.handle is None else OpKind.READ
        return Feeder(kind=kind, into=into, low=low, high=high)
    where = span(shown_at(maker.site.place, maker.site.layers))
    return Feeder(kind=kind_of(maker.type), action=_action(maker), where=where, into=into, low=low, high=high)


def _action(node: Node) -> Action | None:
    """A product of a value with itself is its square."""
    action = ACTIONS.get(node.type)
    return Action.SQUARE if action is Action.MULTIPLY and len(set(map(_identity, node.inputs))) == 1 else action


def _identity(value: Value | None) -> object:
    """The same for two reads of a variable, and for a value and its conjugate."""
    maker = None if value is None else value.maker
    if maker is not None and maker.type == "Conj":
        return _identity(maker.inputs[0])
    return id(value) if value is None or value.handle is None else ("variable", value.handle)
