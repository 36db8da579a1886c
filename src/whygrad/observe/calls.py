"""Gradients that go through functions: returned by one, handed to one, or made in a branch or loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from whygrad.graph.node import Action, OpKind
from whygrad.observe.fact import Function, OpFact
from whygrad.observe.label import Label, together

T = TypeVar("T")
UNCHANGED = frozenset({Action.IDENTITY, Action.PASS_ON})
REARRANGED = frozenset({Action.RESHAPE, Action.PERMUTE, Action.BROADCAST})
_PASSING_ON = UNCHANGED | REARRANGED | {Action.NEGATE}
_BY_ELEMENT = frozenset(
    {
        *(OpKind.ELEMENTWISE, OpKind.SMOOTH, OpKind.CAST, OpKind.SELECT, OpKind.CLIP, OpKind.DIVIDE),
        *(OpKind.SIGN, OpKind.SQRT, OpKind.POWER),
    }
)
_MAX_OPS = 2000  # looked at for one output
_KEPT = 512  # functions


class LabelCalls:
    """What comes out of a call, concluded from the inside of the function; asked once for each function."""

    def __init__(self, labels: dict[int, Label]) -> None:
        self.labels = labels
        self._asked: set[int] = set()
        self._returned: dict[int, tuple[Label | None, ...]] = {}  # this and the next two: by function
        self._passed: dict[int, dict[int, frozenset[int]]] = {}
        self._waiting: dict[int, list[tuple[Callable[[Label], None], frozenset[int]]]] = {}

    def outputs(self, function: Function, arguments: Sequence[int]) -> Iterator[Label | None]:
        """The label of each output of a function that is called with these tensors."""
        given = {position: self.labels[number] for position, number in enumerate(arguments) if number in self.labels}
        for index, label in enumerate(self._labels_returned(function)):
            if label is None and given:
                passed = sorted(self._inputs_of(function, index))
                label = together([given[position] for position in passed if position in given])
            yield label

    def await_arguments(self, gradient: int, function: Function, learn: Callable[[Label], None]) -> None:
        """A gradient that a traced function was given: its label is known when the function is called."""
        positions = frozenset(self._walk(gradient, function))
        if positions:
            _entry(self._waiting, function.key, list).append((learn, positions))

    def arrived(self, function: Function, arguments: Sequence[int]) -> None:
        """A function is called: those that wait for its arguments may know them now."""
        for learn, positions in self._waiting.get(function.key, ()):
            numbers = [arguments[position] for position in sorted(positions) if position < len(arguments)]
            label = together([self.labels[number] for number in numbers if number in self.labels])
            if label is not None and not label.parts:
                learn(label)

    def gives_none(self, function: int) -> bool:
        """Whether a function that was called before returns no gradient, and nobody waits for its arguments."""
        returned = self._returned.get(function)
        return returned is not None and not any(returned) and function not in self._waiting

    def enter(self, tensor: int, function: Function) -> Label | None:
        """The label of a tensor that a call, branch or loop inside a traced function gives, or that it captured."""
        outside = function.outside(tensor)
        label = self.labels.get(outside) if outside is not None else self._of_call(tensor, function)
        if label is not None:
            self.labels[tensor] = label
        return label

    def _of_call(self, tensor: int, function: Function) -> Label | None:
        call = function.call(tensor)
        if call is None:
            return None
        for number in call.arguments:
            if number not in self.labels and number not in self._asked:
                if len(self._asked) >= _MAX_OPS:
                    self._asked.clear()
                self._asked.add(number)
                self.enter(number, function)
        found = []
        for inner in call.functions:
            labels = list(self.outputs(inner, call.arguments))
            if call.output < len(labels):
                found.append(labels[call.output])
        return together([label for label in found if label is not None])

    def _labels_returned(self, function: Function) -> tuple[Label | None, ...]:
        known = self._returned.get(function.key)
        if known is None:
            _make_room(self._returned)
            known = tuple(self._made_inside(output, function) for output in function.outputs)
            self._returned[function.key] = known
        return known

    def _made_inside(self, output: int, function: Function) -> Label | None:
        label = self.labels.get(output) or self.enter(output, function)
        made = function.maker(output) if label is None else None
        if made is not None and made.action is Action.IDENTITY and len(made.inputs) == 1:
            return self._made_inside(made.inputs[0], function)
        return label

    def _inputs_of(self, function: Function, index: int) -> frozenset[int]:
        """Which arguments an output carries on, element by element."""
        known = _entry(self._passed, function.key, dict[int, frozenset[int]])
        if index not in known:
            known[index] = frozenset(self._walk(function.outputs[index], function))
        return known[index]

    def _walk(self, tensor: int, function: Function) -> Iterator[int]:
        places = {number: position for position, number in enumerate(function.inputs)}
        waiting, seen = [tensor], {tensor}
        while waiting and len(seen) < _MAX_OPS:
            current = waiting.pop()
            if current in places:
                yield places[current]
                continue
            for source in self._sources(current, function):
                if source not in seen:
                    seen.add(source)
                    waiting.append(source)

    def _sources(self, tensor: int, function: Function) -> Sequence[int]:
        call = function.call(tensor)
        if call is not None:
            inner = call.functions[0] if call.straight and call.functions else None
            return [] if inner is None else [call.arguments[p] for p in self._inputs_of(inner, call.output)]
        made = function.maker(tensor)
        return made.inputs if made is not None and _passes_on(made) else ()


def _passes_on(op: OpFact) -> bool:
    return op.action in _PASSING_ON or op.kind in _BY_ELEMENT


def _entry(table: dict[int, T], key: int, make: Callable[[], T]) -> T:
    known = table.get(key)
    if known is None:
        _make_room(table)
        known = table[key] = make()
    return known


def _make_room(table: dict[int, T]) -> None:
    while len(table) >= _KEPT:
        del table[next(iter(table))]
