"""Which steps of a run are kept: the first ones, and then one in so many, of which the newest stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

FIRST: Final = 16  # steps, each of which is kept
STRIDE: Final = 16  # after them, one in so many is looked at
NEWEST: Final = 48  # of those, so many are kept
ROWS: Final = FIRST + NEWEST


def is_kept(turn: Any) -> Any:
    """Whether a step, counted from 0, is looked at; a number or a tensor."""
    return (turn < FIRST) | (turn % STRIDE == 0)


def row_of(turn: Any, least: Callable[[Any, Any], Any] = min) -> Any:
    """The row in which a step that is looked at is kept; a number or a tensor, with what takes the smaller of two."""
    return least(turn, FIRST + turn // STRIDE % NEWEST)
