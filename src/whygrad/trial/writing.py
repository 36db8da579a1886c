"""Verified changes written to the user's files: each whole or not at all, and only if it is still what was run."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from whygrad.errors import UsageError
from whygrad.source import shown_file
from whygrad.source.editing import FileText, read_source
from whygrad.trial.changes import Changes


def write(changes: Changes) -> tuple[str, ...]:
    """The files that were written; a `UsageError` before anything is written where one has changed meanwhile."""
    wanted = {
        file: FileText(text, changes.before[file].encoding)
        for file, text in changes.texts.items()
        if text != changes.before[file].text
    }
    for file in wanted:
        if _now(file) != changes.before[file]:
            raise UsageError(f"`{shown_file(file)}` has changed since it ran: nothing was written")
    for file, text in wanted.items():
        _replace(file, text.data)
    return tuple(wanted)


def _now(file: str) -> FileText | None:
    try:
        return read_source(file)
    except (OSError, SyntaxError, UnicodeError):
        return None


def _replace(file: str, data: bytes) -> None:
    """Put a new file in the place of an old one at once; a link stays a link."""
    target = Path(os.path.realpath(file))
    number, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(number, "wb") as opened:
            opened.write(data)
            opened.flush()
            os.fsync(opened.fileno())
        shutil.copymode(target, name)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
