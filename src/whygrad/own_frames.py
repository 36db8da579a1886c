"""Frames of ours in tracebacks of the user's exceptions: taken out, so that they end at the user's own line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final

_PACKAGE: Final = str(Path(__file__).parent) + os.sep
_HOOKS: Final = (str(Path(_PACKAGE, "backends")) + os.sep, str(Path(_PACKAGE, "source")) + os.sep)
_STARTERS: Final = ("<frozen runpy>", "<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")


def hide_own_frames(error: BaseException) -> None:
    """Take whygrad's frames out of the tracebacks of an exception and of all that it is chained to."""
    for one in _chain(error):
        one.__traceback__ = _without_own(one.__traceback__)


def _chain(error: BaseException) -> Iterator[BaseException]:
    pending, seen = [error], set[int]()
    while pending:
        one = pending.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        pending += [other for other in (one.__cause__, one.__context__) if other is not None]
        if isinstance(one, BaseExceptionGroup):
            pending += one.exceptions


def _without_own(traceback: TracebackType | None) -> TracebackType | None:
    """Without what started the script, and without the hooks between the script and its framework.

    Other frames of ours stay: a script that calls `whygrad` itself sees them under Python too.
    """
    while traceback is not None and _file(traceback).startswith((_PACKAGE, *_STARTERS)):
        traceback = traceback.tb_next
    entries = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    kept: TracebackType | None = None
    for entry in reversed([entry for entry in entries if not _file(entry).startswith(_HOOKS)]):
        entry.tb_next = kept
        kept = entry
    return kept


def _file(entry: TracebackType) -> str:
    return entry.tb_frame.f_code.co_filename
