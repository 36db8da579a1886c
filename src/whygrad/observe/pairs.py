"""Which gradient an update is given for which variable, and what had happened to either of them before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from whygrad.graph.node import OpKind, VariableId
from whygrad.graph.recording import Pairing
from whygrad.observe.fact import OpFact
from whygrad.observe.label import Label
from whygrad.observe.place import Place, span


@dataclass(slots=True)
class Pair:
    """One gradient and the variable that it is applied to."""

    variable: int
    label: Label | None = None
    missing: bool = False
    frozen: bool = False  # it was not trainable then
    compiled: bool = False  # traced apart from this update: how often it ran is not known
    stale: bool = False  # it holds gradients that an earlier update has applied already
    took_part: bool = False  # in the pass that gave these gradients of others
    overwritten: Place = None  # where it was given another value after its gradient was taken
    applied: Place = None  # where the earlier update was that applied what is stale
    moved: Place = None  # where another optimizer had moved the variable by the gradient of the same loss

    def learn(self, label: Label) -> None:
        """What the gradient is, known only when the traced update is called."""
        self.label, self.compiled = label, True

    def signature(self) -> tuple[object, ...]:
        """What tells it from a pair at another step."""
        label = self.label
        if label is None:
            return (self.variable, self.missing, self.frozen)
        facts = (label.variables, len(label.requests), label.scale, label.clipped_then_summed, label.noised)
        return (
            self.variable,
            self.missing,
            self.frozen,
            self.stale,
            self.overwritten,
            self.applied,
            self.moved,
            *facts,
        )

    @property
    def is_changed(self) -> bool:
        """Whether the gradient may be more than a sum of requests, each times a constant."""
        label = self.label
        if label is None or label.scale is None:
            return True
        return label.clipped is not None or label.clipped_then_summed is not None

    @property
    def accumulator(self) -> int:
        """The variable that compiled code added the gradient up in; 0 where it is none."""
        return self.label.slot if self.label is not None and self.compiled else 0

    def recorded(self, window: int | None = None, *, never_set_back: bool = False) -> Pairing:
        """As the recording has it; `window` is how many micro-batches compiled code added up, where that is known."""
        variable, label = VariableId(self.variable), self.label
        if label is None:
            return Pairing(variable=variable, gradient_of=None, missing=self.missing, frozen=self.frozen)
        tapes = {asked.tape for asked in label.requests}
        return Pairing(
            variable=variable,
            gradient_of=frozenset(map(VariableId, label.variables)),
            missing=self.missing,
            frozen=self.frozen,
            requests=window or len(label.requests),
            scale=label.scale,
            mean=label.is_mean,
            stale=self.stale or never_set_back,
            aged=label.aged,
            same_place=label.asked is not None and len(tapes) == len(label.requests),
            asked_at=tuple(sorted({where for asked in label.requests if (where := span(asked.place)) is not None})),
            summed=span(label.summed),
            mixed=span(label.mixed),
            divided=span(label.divided),
            loss_divided=span(next((asked.divided for asked in label.requests if asked.divided), None)),
            compiled=self.compiled and window is None,
            beside=self.took_part,
            overwritten=span(self.overwritten),
            applied=span(self.applied),
            moved=span(self.moved),
        )


class By(NamedTuple):
    """Which update it is that moves a variable."""

    place: Place = None
    optimizer: int = 0
    at: int = 0  # the clock
    function: int | None = None  # the traced function it is part of; None: it runs at once


class Applied:
    """Which requests each variable was moved by last."""

    def __init__(self) -> None:
        self._last: dict[int, tuple[int, Place]] = {}  # variable -> when its last request was asked; its update
        self._moved: dict[int, tuple[Label, By]] = {}  # variable -> the last gradient of one request that moved it

    def pair(self, variable: int, label: Label, by: By) -> Pair:
        """A gradient is applied by an update inside a traced function, or at once."""
        functions, times = label.functions, [asked.at for asked in label.requests]
        pair = Pair(variable, label, compiled=functions != {by.function})
        if functions == {None}:
            last, place = self._last.get(variable, (None, None))
            pair.stale = last is not None and len(times) > 1 and min(times) <= last
            pair.applied = place if pair.stale else None
            self._last[variable] = (max(times), by.place)
        if len(times) == 1 and variable in label.variables:
            before, mover = self._moved.get(variable, (label, by))
            early = mover.optimizer != by.optimizer and times[0] <= mover.at
            if early and _loss_of(before) == _loss_of(label):
                pair.moved = mover.place
            self._moved[variable] = (label, by)
        return pair


def _loss_of(label: Label) -> object:
    """Which loss a gradient is of, where it is of one."""
    (asked,) = label.requests
    return (asked.tape, asked.targets)


def note_part_taken(pairs: Iterable[Pair], ops: Iterable[OpFact], handles: Mapping[int, int]) -> None:
    """Note which variables took part in the very pass whose gradients of other variables they are moved by.

    `handles` are those that the ops' function captured, with the variables they stand for.
    """
    strangers = [pair for pair in pairs if pair.label is not None and pair.variable not in pair.label.variables]
    if not strangers:
        return
    tapes = {asked.tape for pair in strangers if pair.label is not None for asked in pair.label.requests}
    there = _took_part({pair.variable for pair in strangers}, tapes, ops, handles)
    for pair in strangers:
        pair.took_part = pair.variable in there


def _took_part(asked: set[int], tapes: set[int], ops: Iterable[OpFact], handles: Mapping[int, int]) -> set[int]:
    """Those of the variables that a sum or mean under one of the tapes depends on, other than through an assignment.

    A copy that gradients are taken of on another's behalf is filled from it, perhaps under the tape, but what the
    original itself computes is no part of the pass.
    """
    found: set[int] = set()
    reached: dict[int, set[int]] = {}  # tensor -> the variables it depends on
    for op in ops:
        if tapes.isdisjoint(op.tapes) or op.kind is OpKind.WRITE:
            continue
        behind = {handles.get(number, number) for number in op.inputs} & asked
        behind = behind.union(*(reached.get(number, ()) for number in op.inputs))
        if not behind:
            continue
        if op.kind is OpKind.REDUCE:
            found |= behind
        reached.update((fact.id, behind) for fact in op.outputs)
    return found
