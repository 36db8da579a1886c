"""The run store: one SQLite file a run, written in the background, read at any moment."""

from whygrad.store.folder import RunHeader, find_run, header_of, list_runs
from whygrad.store.reader import Run, RunEvent
from whygrad.store.rows import Rows, Track
from whygrad.store.run_file import RunNotFoundError, RunUnreadableError
from whygrad.store.writer import RunWriter

__all__ = [
    "Rows",
    "Run",
    "RunEvent",
    "RunHeader",
    "RunNotFoundError",
    "RunUnreadableError",
    "RunWriter",
    "Track",
    "find_run",
    "header_of",
    "list_runs",
]
