"""What an operator is: a way to break a program, the rules that may name it, and the harm that it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from ..code import Code


class Harm(StrEnum):
    """What the oracle has to see in a mutant and not in the healthy program."""

    NONE = "a gradient is None"
    REFUSED = "the request for a gradient raises"
    ZERO = "a gradient is zero in every step"
    NONFINITE = "a gradient is NaN or Inf"
    UNMOVED = "a variable that moved does not move"
    OTHER_VALUES = "variables end at other values"
    DIED = "the program dies"
    REMADE = "trainable variables are made again and again"
    BAKED = "traced, the program ends at other values than it does eagerly"


@dataclass(frozen=True, slots=True)
class Change:
    """The text of a broken program, and its lines that hold the fault; 0: any place, since something is missing."""

    text: str
    first: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True)
class Operator:
    """One way to break programs."""

    name: str
    accepted: tuple[str, ...]  # rules, one of which has to be reported
    harm: tuple[Harm, ...]  # one of which the oracle has to see
    changes: Callable[[Code], Iterator[Change]]
