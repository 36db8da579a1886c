"""Many files: what is known already from the cache, the rest over all cores."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from whygrad.diagnostics import Diagnostic, Label, Severity
from whygrad.lint.files.cache import Cache, digest
from whygrad.lint.files.checked import Checked
from whygrad.source import SourceSpan

_WORTH_A_POOL: Final = 300_000  # bytes to check, below which other processes cost more than they bring
_CHUNK: Final = 8  # files handed to a process at once


def check_files(files: Sequence[Path], cache: Cache, *, jobs: int | None = None) -> dict[Path, Checked]:
    """What is wrong in each file, in their order."""
    found: dict[Path, Checked] = {}
    waiting: list[Path] = []
    for file in files:
        known = cache.look_up(file)
        if known is None:
            waiting.append(file)
        else:
            found[file] = known
    for file, content, checked in _fresh(waiting, jobs or os.cpu_count() or 1):
        found[file] = checked
        if content:
            cache.keep(file, content, checked)
    cache.write()
    return {file: found[file] for file in files}


def _fresh(files: list[Path], jobs: int) -> Iterator[tuple[Path, str, Checked]]:
    if jobs == 1 or len(files) < 2 or sum(map(_size, files)) < _WORTH_A_POOL:
        yield from map(check_file, files)
        return
    from concurrent.futures import ProcessPoolExecutor

    largest_first = sorted(files, key=_size, reverse=True)
    with ProcessPoolExecutor(min(jobs, len(files))) as pool:
        yield from pool.map(check_file, largest_first, chunksize=_CHUNK if len(files) > _CHUNK * jobs * 4 else 1)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def check_file(file: Path) -> tuple[Path, str, Checked]:
    """One file, the digest of its content, and what is wrong in it; whatever happens, there is an answer."""
    from whygrad.lint.engine import unreadable  # not needed where all is known from the cache
    from whygrad.lint.files.checking import check_bytes

    try:
        data = file.read_bytes()
    except OSError as error:
        return file, "", Checked((unreadable(str(file), error.strerror or str(error), 1, None),))
    try:
        return file, digest(data), check_bytes(str(file), data)
    except Exception as error:
        return file, "", Checked((_own_failure(str(file), error),))


def _own_failure(file: str, error: Exception) -> Diagnostic:
    return Diagnostic(
        code="WL002",
        rule="lint-failure",
        severity=Severity.NOTE,
        message=f"whygrad could not check this file: {type(error).__name__}: {error}",
        primary=Label(SourceSpan(file, 1), ""),
        help="please report this line",
    )
