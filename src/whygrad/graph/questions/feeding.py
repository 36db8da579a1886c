"""Questions about what went into an op: is it a norm, which root lies before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from whygrad.graph.node import Action, OpKind
from whygrad.graph.nonfinite import FailingOp, Feeder
from whygrad.source import SourceSpan

NEAR: Final = 6  # ops, between a quotient and the root it divides by, and between the root and its sum


def direct(fed_by: Sequence[Feeder], position: int | None = None) -> list[int]:
    """The positions of the feeders that went straight into the one at `position`; None: into the op itself."""
    return [each for each, feeder in enumerate(fed_by) if feeder.into == position]


def before(fed_by: Sequence[Feeder], position: int | None, depth: int) -> Iterator[int]:
    """The feeders that went into the one at `position` through fewer than `depth` others, the nearest first."""
    level = direct(fed_by, position)
    while level and depth > 0:
        yield from level
        level = [each for taken in level for each in direct(fed_by, taken)]
        depth -= 1


def norm_before(fed_by: Sequence[Feeder]) -> int | None:
    """The position of the norm that is nearest: the root of a sum; None: the nearest root is of something else."""
    for position in before(fed_by, None, NEAR):
        feeder = fed_by[position]
        if feeder.action is Action.NORM:
            return position
        if feeder.kind is OpKind.SQRT:
            sums = any(fed_by[each].kind is OpKind.REDUCE for each in before(fed_by, position, NEAR))
            return position if sums else None
    return None


def is_norm(op: FailingOp, where: SourceSpan | None) -> bool:
    """Whether an op is the root of a sum of squares, or of powers, all of which one call computes.

    A root that the user takes of a sum is a root like any other: it has a place of its own.
    """
    added = [op.fed_by[each] for each in _reduced_in_call(op, where, Action.SUM)]
    if op.kind is OpKind.POWER:
        return any(each.kind is OpKind.POWER for each in added)
    return op.kind is OpKind.SQRT and any(each.action is Action.SQUARE for each in added)


def is_deviation(op: FailingOp, where: SourceSpan | None) -> bool:
    """Whether an op is the root of a mean of squared differences, all of which one call computes."""
    if op.kind is not OpKind.SQRT:
        return False
    for each in _reduced_in_call(op, where, Action.MEAN):
        squares = op.fed_by[each].action is Action.SQUARE
        if squares and any(op.fed_by[taken].action is Action.SUBTRACT for taken in direct(op.fed_by, each)):
            return True
        if op.fed_by[each].action is Action.SQUARED_DIFFERENCE:
            return True
    return False


def _reduced_in_call(op: FailingOp, where: SourceSpan | None, reduction: Action) -> list[int]:
    """What a reduction at the same place took, of which the op is the root; a reciprocal root is a normalisation's."""
    fed_by = op.fed_by
    sums = [each for each in direct(fed_by) if fed_by[each].action is reduction and fed_by[each].where == where]
    taken = [each for total in sums for each in direct(fed_by, total) if fed_by[each].where == where]
    return [] if op.action is Action.RECIPROCAL_ROOT else taken
