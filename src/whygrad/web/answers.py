"""Answers as bytes, computed once for however many ask: pages that follow a run ask for the same every two seconds."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from whygrad.web.library import Library
from whygrad.web.routes import answer

_FRESH_SECONDS: Final = 1.0  # an answer is given again, although the run has been written to since
_OLD_SECONDS: Final = 5.0  # one that is older is not given, however long the next takes
_MOST_BYTES: Final = 16 * 2**20  # of all that is kept
_MOST_KEPT: Final = 512
_WORTH_PACKING: Final = 2_000  # bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent, as it is and compressed."""

    status: int
    plain: bytes
    packed: bytes | None  # None: not worth it

    @classmethod
    def of(cls, plain: bytes, status: int = 200) -> Answer:
        return cls(status, plain, gzip.compress(plain, 1) if len(plain) >= _WORTH_PACKING else None)

    @property
    def size(self) -> int:
        return len(self.plain) + len(self.packed or b"")


def as_json(data: Any) -> bytes:
    return json.dumps(data, allow_nan=False, separators=(",", ":")).encode()


@dataclass(slots=True)
class _Kept:
    """The newest answer to one question, and the lock of who is finding the next."""

    lock: threading.Lock
    answer: Answer | None = None
    stamp: object = None
    when: float = 0.0


class Answers:
    """Asked by many threads; one at a time finds an answer, and meanwhile the others are given the one before."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._kept: dict[tuple[str, tuple[tuple[str, str], ...]], _Kept] = {}
        self._lock = threading.Lock()

    def get(self, path: str, query: Mapping[str, str]) -> Answer:
        """The answer to an address below `api/`."""
        kept = self._place(path, query)
        known, age = kept.answer, time.monotonic() - kept.when
        if known is not None and age < _FRESH_SECONDS:
            return known
        if not kept.lock.acquire(blocking=known is None or age > _OLD_SECONDS) and known is not None:
            return known
        try:
            return self._found(kept, path, query)
        finally:
            kept.lock.release()

    def forget(self) -> None:
        """Something was changed: whoever asks next sees it."""
        with self._lock:
            self._kept.clear()

    def _place(self, path: str, query: Mapping[str, str]) -> _Kept:
        key = (path, tuple(sorted(query.items())))
        with self._lock:
            size = sum(each.answer.size for each in self._kept.values() if each.answer is not None)
            if size > _MOST_BYTES or len(self._kept) > _MOST_KEPT:
                self._kept.clear()
            return self._kept.setdefault(key, _Kept(threading.Lock()))

    def _found(self, kept: _Kept, path: str, query: Mapping[str, str]) -> Answer:
        if kept.answer is not None and time.monotonic() - kept.when < _FRESH_SECONDS:
            return kept.answer  # somebody else has found it meanwhile
        stamp = self._library.stamp(path)
        if kept.answer is None or stamp is None or stamp != kept.stamp:
            status, data = answer(self._library, path, query)
            kept.answer, kept.stamp = Answer.of(as_json(data), status), stamp
        kept.when = time.monotonic()
        return kept.answer
