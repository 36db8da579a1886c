"""What went into one gradient tensor, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MAX_REQUESTS = 256  # single requests remembered in one label; beyond that only their number counts


@dataclass(frozen=True, slots=True)
class Label:
    """What went into one gradient tensor."""

    variables: frozenset[int]  # the variables these are gradients of
    requests: frozenset[int]  # the requests that gave them, by number
    asked: Any  # the place of those requests, and of the tapes they were asked of; None where they differ
    scale: float | None = 1.0  # the constant factor of each of them; None: not constant, or they differ
    mean: bool = False  # the loss was a mean over its examples
    clipped: Any = None  # where it was clipped before it was added up
    summed: Any = None  # where several requests were added up last
    mixed: Any = None  # where gradients of different variables were added up
    clipped_then_summed: Any = None  # (where clipped, where summed)
    noised: bool = False  # random noise was added: clipping before is then on purpose
    tapes: frozenset[int] = frozenset()  # the tapes that were asked: micro-batches have one each
    graph: int = 0  # the function graph it was traced in; 0: it ran at once
    slot: int = 0  # the variable it was read from
    at: int = 0  # the clock when it was asked for; of a sum, the last
    parts: tuple[Any, ...] = ()  # several gradients joined in one tensor, one `Part` each
    divided: Any = None  # where it was multiplied by a constant last
    loss_divided: Any = None  # the same of the loss
    carries: frozenset[int] = frozenset()  # requests whose targets were added up in this one's target


def merge(first: Label, second: Label, place: Any) -> Label:
    """The label of a sum."""
    variables = first.variables | second.variables
    requests = first.requests | second.requests
    several = len(requests) > max(len(first.requests), len(second.requests))
    clipped = first.clipped or second.clipped
    return Label(
        variables=variables,
        requests=_latest(requests),
        asked=first.asked if first.asked == second.asked else None,
        scale=first.scale if first.scale == second.scale else None,
        mean=first.mean and second.mean,
        clipped=None if several else clipped,
        summed=place if several else first.summed or second.summed,
        mixed=place
        if len(variables) > max(len(first.variables), len(second.variables))
        else first.mixed or second.mixed,
        clipped_then_summed=(
            (clipped, place)
            if several and first.clipped and second.clipped
            else first.clipped_then_summed or second.clipped_then_summed
        ),
        noised=first.noised or second.noised,
        tapes=_latest(first.tapes | second.tapes),
        graph=first.graph if first.graph == second.graph else -1,
        slot=first.slot or second.slot,
        at=max(first.at, second.at),
        divided=first.divided or second.divided,
        loss_divided=first.loss_divided or second.loss_divided,
        parts=_merged_parts(first, second, place),
        carries=_latest(first.carries | second.carries),
    )


def _latest(numbers: frozenset[int]) -> frozenset[int]:
    """A sum that goes on for ever, as in a running mean, remembers the end of it."""
    return numbers if len(numbers) <= MAX_REQUESTS else frozenset(sorted(numbers)[-MAX_REQUESTS:])


def _merged_parts(first: Label, second: Label, place: Any) -> tuple[Any, ...]:
    """Joined gradients of the same build are added piece by piece."""
    if len(first.parts) != len(second.parts):
        return first.parts or second.parts
    return tuple(
        one._replace(label=_sum(one.label, other.label, place))
        for one, other in zip(first.parts, second.parts, strict=True)
    )


def _sum(first: Label | None, second: Label | None, place: Any) -> Label | None:
    return merge(first, second, place) if first is not None and second is not None else first or second
