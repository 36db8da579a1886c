"""Watches a script from outside: whatever fails in whygrad is one warning, never the script's trouble."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeVar

from whygrad import notice
from whygrad.diagnostics import Diagnostic, Selection
from whygrad.report.report import Report

T = TypeVar("T")
OnCertain = Callable[[Diagnostic], None]


class WatchedRun(Protocol):
    """What `whygrad.watch.watch` gives, as far as a script's run needs it."""

    def failed(self, error: BaseException, /) -> None: ...

    def report(self) -> Report: ...


class Watching:
    """One capture, begun and ended by hand because a script may end in more ways than a block does."""

    def __init__(self, selection: Selection, on_certain: OnCertain | None, **options: Any) -> None:
        self._stack = contextlib.ExitStack()
        self._warned = False
        watched = partial(_watch(), selection=selection, on_certain=on_certain, **options)
        self._run = self.attempt(lambda: self._stack.enter_context(watched()))

    def failed(self, crash: Exception | None) -> None:
        """Tell the capture what the script did not catch: the crash is often the symptom."""
        run = self._run
        if run is not None and crash is not None:
            self.attempt(lambda: run.failed(crash))

    def stop(self) -> Report | None:
        """End the capture and explain it; None where whygrad failed."""
        run = self._run
        self.attempt(self._stack.close)
        return None if run is None else self.attempt(lambda: run.report())

    def attempt(self, step: Callable[[], T]) -> T | None:
        """The result of a step, or None and the one warning."""
        try:
            return step()
        except Exception as error:
            if not self._warned:
                warn(error)
            self._warned = True
            return None


def warn(error: Exception) -> None:
    """Say that whygrad itself failed, and where."""
    notice.warn(
        f"an internal error{notice.spot(error)} spoils the report: {type(error).__name__}: {error}; "
        "the script is not affected (please report this line)",
        sys.__stderr__,
    )


def _watch() -> Callable[..., contextlib.AbstractContextManager[WatchedRun]]:
    from whygrad.watch import watch

    return watch
