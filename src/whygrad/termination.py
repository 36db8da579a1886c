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

    Where the program handles the signal itself, or this is not the main thread, nothing is changed.
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
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGTERM) is end:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
