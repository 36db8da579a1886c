"""Look at files again and again, and say when one has changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from whygrad.lint.files.discovery import find_files

_PAUSE: Final = 0.5  # seconds between two looks


def on_change(
    paths: Sequence[str], exclude: Sequence[str], then: Callable[[], object], *, turns: int | None = None
) -> None:
    """Call `then` now and after every change, until Ctrl-C; `turns` is for tests."""
    seen: dict[str, int] | None = None
    try:
        while turns is None or turns > 0:
            now = _stamps(paths, exclude)
            if now != seen:
                then()
                seen = now
            turns = None if turns is None else turns - 1
            time.sleep(_PAUSE)
    except KeyboardInterrupt:
        return


def _stamps(paths: Sequence[str], exclude: Sequence[str]) -> dict[str, int]:
    found = {}
    for file in find_files(paths, exclude):
        try:
            found[str(file)] = file.stat().st_mtime_ns
        except OSError:
            continue
    return found
