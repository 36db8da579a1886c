"""A copy of the working folder to run in, so that what the program writes there is written to the copy."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from whygrad.errors import UsageError

MAX_SIZE: Final = 2**30  # bytes that are copied
_LEFT_OUT: Final = (".git", ".hg", ".venv", "venv", "node_modules", "__pycache__", ".whygrad")


@contextmanager
def scratch_copy(folder: str) -> Iterator[str]:
    """A copy of a folder that is gone after the block; a `UsageError` where it is too big."""
    size = 0
    for root, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in _LEFT_OUT]
        size += sum(os.lstat(os.path.join(root, name)).st_size for name in files)
        if size > MAX_SIZE:
            raise UsageError(f"`{folder}` is too big to be copied", help="run without --scratch")
    with tempfile.TemporaryDirectory(prefix="whygrad-scratch-") as above:
        copy = os.path.join(os.path.realpath(above), os.path.basename(folder) or "folder")
        shutil.copytree(folder, copy, symlinks=True, ignore=shutil.ignore_patterns(*_LEFT_OUT))
        yield copy
