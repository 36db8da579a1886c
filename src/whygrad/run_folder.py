"""Where runs and kept steps go: `.whygrad`, or where `WHYGRAD_DIR` says; and which runs this process has begun."""

from __future__ import annotations

import os
from pathlib import Path


def run_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """The given folder, or the usual one."""
    return Path(folder or os.environ.get("WHYGRAD_DIR") or ".whygrad")


_begun: list[tuple[int, Path]] = []  # (process, run file)


def note_run(path: Path) -> None:
    """Tell that a run was begun here."""
    _begun.append((os.getpid(), path))


def runs_of_this_process() -> list[Path]:
    """The run files that were begun in this process, oldest first; those of a parent that was forked are not."""
    return [path for process, path in _begun if process == os.getpid()]
