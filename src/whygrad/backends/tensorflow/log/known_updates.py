"""Eager updates that an optimizer has made the same way several times running: few of them are listened to.

An optimizer runs more ops than the rest of a small step. All that is noted of them is which variables they write; once
that is known, one update in sixteen is listened to, and the others are noted as what they write.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Final

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.ledger.ledger import LedgerBook, Written
from whygrad.source.position import CodeOwner, owner_of

_ALIKE: Final = 4  # updates that wrote the same, after which it is known
_HEARD: Final = 16  # one in so many
_MOST: Final = 256  # kinds of updates
_PARTS = ("inner_optimizer", "_learning_rate")


@dataclass(slots=True)
class _Known:
    writes: list[Written] = field(default_factory=list)
    alike: int = 0
    turn: int = 0


class KnownUpdates:
    """One update at a time: none begins inside another."""

    def __init__(self, ledger: LedgerBook) -> None:
        self.hush: Callable[[], Callable[[], None] | None] = lambda: None  # stops the listening; returns what ends that
        self._ledger = ledger
        self._known: dict[Any, _Known] = {}
        self._now: _Known | None = None
        self._listen_again: Callable[[], None] | None = None

    def begin(self, optimizer: Any, key: tuple[Any, ...]) -> None:
        """An eager update of what the key says: which optimizer, asked for where, which variables."""
        if has_users_code(optimizer) or _writes_now_and_then(optimizer) or compat.replicas() > 1:
            return
        if len(self._known) >= _MOST:
            self._known.clear()
        known = self._now = self._known.setdefault(key, _Known())
        known.turn += 1
        if known.alike >= _ALIKE and known.turn % _HEARD:
            self._listen_again = self.hush()
        if self._listen_again is None:
            self._ledger.written = []

    def end(self) -> None:
        known, again, written = self._now, self._listen_again, self._ledger.written
        self._now = self._listen_again = self._ledger.written = None
        if again is not None:
            again()
        if known is not None and again is not None:
            self._ledger.wrote_again(known.writes)
        elif known is not None and written is not None:
            known.alike = known.alike + 1 if written == known.writes else 0
            known.writes = written


def has_users_code(optimizer: Any) -> bool:
    """Whether a class of the user's own makes the update."""
    parts = (optimizer, *(getattr(optimizer, name, None) for name in _PARTS))
    return any(_are_users(type(part).__mro__) for part in parts if part is not None)


@functools.lru_cache(maxsize=256)
def _are_users(classes: tuple[type, ...]) -> bool:
    methods = (method for each in classes for method in vars(each).values() if isinstance(method, FunctionType))
    return any(owner_of(method.__code__) is CodeOwner.USER for method in methods)


def _writes_now_and_then(optimizer: Any) -> bool:
    """Whether some of its writes come in some steps only."""
    names = ("use_ema", "gradient_accumulation_steps", "inner_optimizer")
    return any(getattr(optimizer, name, None) for name in names)
