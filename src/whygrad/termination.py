"""A process that is told to end: what must be said before it does, since Python runs nothing then."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def at_termination(say: Callable[[], None]) -> Iterator[None]:
    """Inside the block SIGTERM has `say` called before it ends the process, as it would have done by itself.

    A child that is forked meanwhile is ended by the signal at once. Where the program handles the signal itself, or
    this is not the main thread, nothing is changed.
    """
    process, main = os.getpid(), threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def end(number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        if os.getpid() == process:  # else a child that was forked since
            say()
        os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, end)
    _ours.add(end)
    try:
        yield
    finally:
        _ours.discard(end)
        if signal.getsignal(signal.SIGTERM) is end:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


_ours: set[object] = set()


def _as_before() -> None:
    """In a child that was forked."""
    if signal.getsignal(signal.SIGTERM) in _ours:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_as_before)
