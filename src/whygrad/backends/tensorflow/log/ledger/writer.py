"""Who is writing to variables now, where the code that writes knows it better than the stack shows."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

_local = threading.local()


@contextlib.contextmanager
def writing_as(name: str) -> Iterator[None]:
    """What is written meanwhile in this thread, at once or into a graph, is written by `name`."""
    before = current_writer()
    _local.name = name
    try:
        yield
    finally:
        _local.name = before


def current_writer() -> str | None:
    name: str | None = getattr(_local, "name", None)
    return name
