"""Threads that whygrad starts itself: no hook takes notes in them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


class _Thread(threading.local):
    busy = False  # True in threads that we started ourselves


own_thread = _Thread()


def in_own_thread(function: Callable[[], Result]) -> Result:
    """What a function of ours returns, run where no hook takes note of it and no scope of the program is open."""
    done: list[Result] = []
    failed: list[BaseException] = []

    def run() -> None:
        own_thread.busy = True
        try:
            done.append(function())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return done[0]
