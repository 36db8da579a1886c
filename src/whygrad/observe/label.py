"""What went into one gradient tensor, as a value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from whygrad.observe.fact import Extent
from whygrad.observe.place import Place
from whygrad.source.position import Position

MAX_REQUESTS = 256  # single requests remembered in one label; beyond that only their number counts


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """One gradient request."""

    number: int
    place: Place = None
    made: tuple[Place, tuple[Position, ...]] | None = None  # where its target was made: micro-batches share it
    tape: int = 0  # micro-batches have one each; below zero: a call of a traced function, by the clock
    function: int | None = None  # the traced function it was asked in; None: it ran at once
    at: int = 0  # the clock
    mean: bool = False  # the loss was a mean over its examples
    divided: Place = None  # where the loss was multiplied by a constant
    targets: tuple[int, ...] = ()
    given: tuple[int, ...] = ()  # gradients of the targets that it began with; below zero: no tensor


class Part(NamedTuple):
    """One gradient inside a joined tensor."""

    label: Label | None
    extent: Extent


@dataclass(frozen=True, slots=True)
class Label:
    """What went into one gradient tensor."""

    variables: frozenset[int]  # the variables these are gradients of
    requests: frozenset[Asked]  # the requests that gave them
    scale: float | None = 1.0  # the constant factor of each of them; None: not constant, or they differ
    clipped: Place = None  # where it was clipped before it was added up
    summed: Place = None  # where several requests were added up last
    mixed: Place = None  # where gradients of different variables were added up
    clipped_then_summed: tuple[Place, Place] | None = None
    noised: bool = False  # random noise was added: clipping before is then on purpose
    slot: int = 0  # the variable it was read from
    divided: Place = None  # where it was multiplied by a constant last
    parts: tuple[Part, ...] = ()  # several gradients joined in one tensor
    added: bool = False  # something was added to it since it was read from a variable
    weighed: bool = False  # it was multiplied since it was read from a variable
    aged: bool = False  # what was added up was weighed afterwards, or taken away: a running average, an extrapolation
    rows: int = 0  # of the values of a sparse gradient, a number for the rows they belong to; 0: dense, or not known
    carries: frozenset[int] = frozenset()  # earlier requests whose targets were added up in a later one's target

    @property
    def numbers(self) -> frozenset[int]:
        return frozenset(asked.number for asked in self.requests)

    @property
    def functions(self) -> frozenset[int | None]:
        """The traced functions they were asked in; None: those that ran at once."""
        return frozenset(asked.function for asked in self.requests)

    @property
    def is_mean(self) -> bool:
        return all(asked.mean for asked in self.requests)

    @property
    def asked(self) -> Asked | None:
        """One of the requests, where all are alike: by the same expression, of a target made at the same place."""
        first, *others = self.requests
        alike = all((each.place, each.made) == (first.place, first.made) for each in others)
        return first if alike else None

    @property
    def is_nested(self) -> bool:
        """Whether the loss of one request holds that of another."""
        return bool(self.carries) and not self.carries.isdisjoint(self.numbers)


def merge(first: Label, second: Label, place: Place) -> Label:
    """The label of a sum."""
    variables = first.variables | second.variables
    requests = first.requests | second.requests
    several = len(requests) > max(len(first.requests), len(second.requests))
    clipped = first.clipped or second.clipped
    wider = len(variables) > max(len(first.variables), len(second.variables))
    then_summed = first.clipped_then_summed or second.clipped_then_summed
    alike = first.scale == second.scale and (first.clipped is None) == (second.clipped is None)
    return Label(
        variables=variables,
        requests=_latest(requests),
        scale=first.scale if alike else None,
        clipped=None if several else clipped,
        summed=place if several else first.summed or second.summed,
        mixed=place if wider else first.mixed or second.mixed,
        clipped_then_summed=(clipped, place) if several and first.clipped and second.clipped else then_summed,
        noised=first.noised or second.noised,
        slot=first.slot or second.slot,
        divided=first.divided or second.divided,
        parts=_merged_parts(first, second, place),
        added=True,
        weighed=first.weighed or second.weighed,
        aged=first.aged or second.aged,
        rows=first.rows if first.rows == second.rows else 0,
        carries=first.carries | second.carries,  # of one tape at most: few
    )


def together(labels: list[Label]) -> Label | None:
    """One label for what may be any of several gradients; None where one of several is joined of parts."""
    if not labels or (len(labels) > 1 and any(label.parts for label in labels)):
        return None
    whole = replace(labels[0], scale=None)
    for label in labels[1:]:
        whole = merge(whole, label, None)
    return whole


def asked_now(label: Label, function: int, now: int, fresh: dict[Asked, Asked]) -> Label:
    """The label of what a call of a traced function gave: it asks once a call, as code that runs at once does."""
    if label.slot or label.summed or any(asked.function != function for asked in label.requests):
        return label
    anew = (fresh.setdefault(asked, replace(asked, tape=-now, function=None, at=now)) for asked in label.requests)
    return replace(label, requests=frozenset(anew))


def _latest(requests: frozenset[Asked]) -> frozenset[Asked]:
    """A sum that goes on for ever, as in a running mean, remembers the end of it."""
    if len(requests) <= MAX_REQUESTS:
        return requests
    return frozenset(sorted(requests, key=lambda asked: asked.at)[-MAX_REQUESTS:])


def _merged_parts(first: Label, second: Label, place: Place) -> tuple[Part, ...]:
    """Joined gradients of the same build are added piece by piece."""
    if len(first.parts) != len(second.parts):
        return first.parts or second.parts
    return tuple(
        one._replace(label=_sum(one.label, other.label, place))
        for one, other in zip(first.parts, second.parts, strict=True)
    )


def _sum(first: Label | None, second: Label | None, place: Place) -> Label | None:
    return merge(first, second, place) if first is not None and second is not None else first or second
