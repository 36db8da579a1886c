"""Putting hooks in and taking them out; a hook that fails switches the capture off and never the run."""

from __future__ import annotations

import functools
import threading
import types
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from whygrad.backends.tensorflow.capability import Absent, MissingNameError
from whygrad.backends.tensorflow.measure.own_thread import own_thread
from whygrad.notice import spot, warn

PATIENCE = 1.0  # seconds a thread waits for another one's note before it goes on without its own
LATE = 64  # notes that may wait
REPORT_TO = "please report this line to the authors of whygrad"


class Hooks:
    """Everything that was replaced while watching, in order, so that it can be put back."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []
        self.replaced: list[tuple[Any, str, Any]] = []  # owner, name, original
        self.broken = False
        self.on_thread: Callable[[int, int], None] | None = None  # told when another thread than before takes notes
        # after a request was noted, with its tape, or an update, with None; it may raise
        self.afterwards: Callable[[Any], None] = lambda tape: None
        self._lock = threading.RLock()
        self.late: deque[tuple[Callable[..., Any], tuple[Any, ...]]] = deque()  # notes that wait
        self._thread = threading.get_ident()

    def replace(self, owner: Any, name: str, wrap: Callable[[Any], Any]) -> None:
        """Set `owner.name` to `wrap(original)`; nothing happens where the owner does not have it."""
        home = _home(owner, name)
        if home is None:
            return
        original = home.__dict__[name]
        wrapper = wrap(original)
        if isinstance(original, types.FunctionType):
            functools.update_wrapper(wrapper, original)
        setattr(home, name, wrapper)
        self.replaced.append((home, name, original))
        self._undo.append(lambda: setattr(home, name, original))

    def on_removal(self, undo: Callable[[], None]) -> None:
        self._undo.append(undo)

    def remove(self) -> None:
        """Put everything back, last first, whatever one of them does."""
        self.catch_up()
        self.late.clear()  # what waited when a note failed
        while self._undo:
            undo = self._undo.pop()
            try:
                undo()
            except Exception as error:
                self.fail(error)

    def safely(self, note: Callable[..., Any], *arguments: Any, is_first: bool = False) -> Any:
        """Run our own code inside somebody else's call, one thread at a time, and what waits before it if it may."""
        lock = self._lock
        if self.broken or own_thread.busy:  # a thread of our own takes no notes
            return None
        if not lock.acquire(False) and not lock.acquire(timeout=PATIENCE):
            return None
        try:
            thread = threading.get_ident()
            if self.late and not (is_first and thread == self._thread):
                for earlier, given in [self.late.popleft() for _ in range(len(self.late))]:
                    with suppress(MissingNameError):
                        earlier(*given)
            if thread != self._thread:
                self._change_thread(thread)
            return note(*arguments)
        except MissingNameError:  # said once, when watching began
            return None
        except Exception as error:
            self.fail(error)
            return None
        finally:
            lock.release()

    def later(self, note: Callable[..., Any], *arguments: Any) -> None:
        """Run it before the next note, or when enough of them wait: several at once take less time than one by one."""
        self.late.append((note, arguments))
        if len(self.late) >= LATE:
            self.catch_up()

    def catch_up(self) -> None:
        """Take the notes that wait."""
        self.safely(lambda: None)

    def is_thread(self, thread: int) -> bool:
        """Whether it took the last note, and notes are taken at all."""
        return thread == self._thread and not self.broken and not own_thread.busy

    def _change_thread(self, thread: int) -> None:
        before, self._thread = self._thread, thread
        if self.on_thread is not None:
            self.on_thread(before, thread)

    def fail(self, error: BaseException) -> None:
        """One warning; the run goes on unwatched."""
        if self.broken:
            return
        self.broken = True
        warn(
            f"watching stopped after an internal error{spot(error)}: "
            f"{type(error).__name__}: {error}; the run goes on unwatched ({REPORT_TO})"
        )


def _home(owner: Any, name: str) -> Any:
    """The class of an inheritance chain that really holds the name; a module holds its own."""
    if owner is None or isinstance(owner, Absent):
        return None
    for candidate in getattr(owner, "__mro__", (owner,)):
        if name in vars(candidate) and candidate is not object:
            return candidate
    return None
