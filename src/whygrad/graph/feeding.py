"""Questions about what went into an op: which root, which sum lies before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from whygrad.graph.node import Action, OpKind
from whygrad.graph.nonfinite import Feeder

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
