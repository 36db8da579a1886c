"""What went into an op: the ops whose results it took, and those whose results they took."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Final, TypeVar

from whygrad.backends.tensorflow.log.op_table import ACTIONS, kind_of
from whygrad.backends.tensorflow.log.positions import span
from whygrad.backends.tensorflow.nonfinite.finite import facts_of_values, is_number
from whygrad.backends.tensorflow.nonfinite.replay.trace import Node, Value
from whygrad.graph import Action, OpKind
from whygrad.graph.nonfinite import Feeder

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture
    from whygrad.backends.tensorflow.log.op_record import OpRecord

T = TypeVar("T")

NEAREST: Final = 48  # ops, in the order of their distance
MOST: Final = 96  # ops; beyond the nearest, those with the largest results come first
MOST_SEEN: Final = 256


def feeders_of_node(capture: Capture, node: Node) -> tuple[Feeder, ...]:
    """Of an op of a replay, with the numbers that went through."""

    def described(value: Value, into: int | None) -> Feeder:
        facts = facts_of_values(value.tensor) if is_number(value.tensor) else None
        low, high = (None, None) if facts is None else (facts.low, facts.high)
        maker = value.maker
        if maker is None:
            kind = OpKind.CONSTANT if value.handle is None else OpKind.READ
            return Feeder(kind=kind, into=into, low=low, high=high)
        where = span(capture.keras.shown_at(maker.site.place, maker.site.layers))
        action = _action(maker.type, map(_identity, maker.inputs))
        return Feeder(kind=kind_of(maker.type), action=action, where=where, into=into, low=low, high=high)

    return _walk(node.inputs, lambda value: () if value.maker is None else value.maker.inputs, id, described)


def feeders_of_record(capture: Capture, record: OpRecord) -> tuple[Feeder, ...]:
    """Of an op that ran before the replayed step, without numbers: they are gone."""
    producers = capture.recorder.producers

    def described(number: int, into: int | None) -> Feeder:
        maker = producers.get(number)
        if maker is None:
            return Feeder(kind=OpKind.CONSTANT, into=into)
        action = _action(maker.type, map(identity, maker.inputs))
        return Feeder(kind=kind_of(maker.type), action=action, where=span(maker.place), into=into)

    def identity(number: int) -> object:
        maker = producers.get(number)
        same = maker is not None and (maker.type == "Conj" or kind_of(maker.type) is OpKind.READ) and maker.inputs
        return identity(same[0]) if same else number

    def inputs(number: int) -> tuple[int, ...]:
        maker = producers.get(number)
        return () if maker is None else maker.inputs

    return _walk(record.inputs, inputs, lambda number: number, described)


def _walk(
    first: Iterable[T | None],
    inputs: Callable[[T], Iterable[T | None]],
    key: Callable[[T], Hashable],
    described: Callable[[T, int | None], Feeder],
) -> tuple[Feeder, ...]:
    found: list[Feeder] = []
    waiting: list[tuple[T, Feeder]] = []
    seen: set[Hashable] = set()

    def add(values: Iterable[T | None], into: int | None) -> None:
        for value in values:
            if value is not None and key(value) not in seen and len(seen) < MOST_SEEN:
                seen.add(key(value))
                waiting.append((value, described(value, into)))

    add(first, None)
    while waiting and len(found) < MOST:
        sizes = range(1) if len(found) < NEAREST else range(len(waiting))
        value, feeder = waiting.pop(max(sizes, key=lambda i: waiting[i][1].magnitude))
        found.append(feeder)
        add(inputs(value), len(found) - 1)
    return tuple(found)


def _action(op_type: str, inputs: Iterable[object]) -> Action | None:
    """A product of a value with itself is its square."""
    action = ACTIONS.get(op_type)
    return Action.SQUARE if action is Action.MULTIPLY and len(set(inputs)) == 1 else action


def _identity(value: Value | None) -> object:
    """The same for two reads of a variable, and for a value and its conjugate."""
    maker = None if value is None else value.maker
    if maker is not None and maker.type == "Conj":
        return _identity(maker.inputs[0])
    return id(value) if value is None or value.handle is None else ("variable", value.handle)
