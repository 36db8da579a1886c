"""The state of one walk through a file, and how new values come about."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from whygrad.backends.api import Api, Does
from whygrad.lint.flow.facts import Facts
from whygrad.lint.values.questions import is_none, options
from whygrad.lint.values.value import Function, Items, Kind, Klass, Literal, Node, Object, Place, Scope, Tape, Value

BUDGET: Final = 60_000  # expressions looked at; a file of 2,000 lines has about 20,000
DEEPEST: Final = 10  # calls within calls that are followed


class SpentError(Exception):
    """The file was too much to follow."""


class Machine:
    """What is open around the expression that is looked at; later parts add how expressions and calls are read."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.facts = Facts()
        self.scope = Scope()
        self.module = self.scope
        self.tapes: list[Tape] = []
        self.recording: frozenset[Tape] = frozenset()
        self.place = Place()
        self.steps = 0
        self.time = 0
        self.defined: list[Function] = []
        self.classes: list[Klass] = []
        self.reached: set[ast.AST] = set()  # functions that were called

    # what later parts of the machine do

    def evaluate(self, node: ast.expr) -> Value:
        raise NotImplementedError

    def run_block(self, body: Sequence[ast.stmt]) -> bool:
        raise NotImplementedError

    def call(self, callee: Value, arguments: list[Value], words: dict[str, Value], where: ast.Call) -> Value:
        raise NotImplementedError

    # values

    def node(
        self,
        kind: Kind,
        where: ast.AST | None,
        does: Does | None = None,
        inputs: tuple[Value, ...] = (),
        dtype: str | None = None,
    ) -> Node:
        self.time += 1
        made = Node(kind, where, does, inputs, dtype, self.recording, self.place, self.time)
        self.facts.nodes.append(made)
        return made

    def unknown(self, where: ast.AST | None = None, inputs: tuple[Value, ...] = (), name: str = "") -> Node:
        made = self.node(Kind.UNKNOWN, where, None, inputs)
        made.name = name
        return made

    def child(self, owner: Value, name: str, where: ast.AST | None) -> Value:
        """The same unknown attribute each time that it is read."""
        held = owner.attributes if isinstance(owner, (Node, Object)) else None
        if held is None:
            held = {}
            if isinstance(owner, Node):
                owner.attributes = held
        if name not in held:
            made = self.unknown(where, name=name)
            made.parent = owner
            if isinstance(owner, Node) and owner.callee is None and owner.place is not None:
                made.under, made.time = owner.under, owner.time  # it was there as long as its owner
            held[name] = made
        return held[name]

    def join(self, one: Value | None, other: Value | None) -> Value:
        """Either of two values, as a branch decides."""
        if one is None or one is other or is_none(one):
            return other if other is not None else self.unknown()
        if other is None or is_none(other):
            return one
        if isinstance(one, Items) and isinstance(other, Items) and len(one.items) == len(other.items):
            items = [self.join(a, b) for a, b in zip(one.items, other.items, strict=True)]
            return Items(items, one.where, complete=one.complete and other.complete)
        if isinstance(one, Literal) and isinstance(other, Literal) and one.value == other.value:
            return one
        found = (*options(one), *options(other))
        kinds = {each.kind if isinstance(each, Node) else _kind(each) for each in found}
        dtypes = {each.dtype if isinstance(each, Node) else None for each in found}
        kind = kinds.pop() if len(kinds) == 1 else Kind.UNKNOWN
        dtype = dtypes.pop() if len(dtypes) == 1 else None
        return Node(kind, one.where, Does.EITHER, found[:12], dtype, time=self.time)

    def any_of(self, values: Iterable[Value], where: ast.AST | None) -> Value:
        """One of several values; unknown where there are none."""
        found: Value | None = None
        for each in values:
            found = each if found is None else self.join(found, each)
        return found if found is not None else self.unknown(where)

    # what is around

    @contextmanager
    def inside(self, place: Place) -> Iterator[None]:
        before, self.place = self.place, place
        try:
            yield
        finally:
            self.place = before

    def looping(self, loop: ast.AST) -> Place:
        return replace(self.place, loops=(*self.place.loops, loop))

    def branching(self) -> Place:
        return replace(self.place, branch=True)

    @contextmanager
    def recorded_by(self, tape: Tape) -> Iterator[None]:
        self.tapes.append(tape)
        self.refresh()
        yield
        self.tapes.remove(tape)
        self.refresh()

    def refresh(self) -> None:
        """Which tapes record from now on."""
        self.recording = frozenset(tape for tape in self.tapes if not tape.paused)


def _kind(value: Value) -> Kind:
    return Kind.NUMBER if isinstance(value, Literal) and isinstance(value.value, (int, float)) else Kind.UNKNOWN
