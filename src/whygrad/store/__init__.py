"""The run store: one SQLite file a run, written in the background, read at any moment."""

from whygrad.store.errors import RunNotFoundError, RunUnreadableError
from whygrad.store.folder import RunHeader, find_run, header_of, list_runs
from whygrad.store.reader import Event, Run
from whygrad.store.rows import Rows, Track
from whygrad.store.writer import RunWriter

__all__ = [
    "Event",
    "Rows",
    "Run",
    "RunHeader",
    "RunNotFoundError",
    "RunUnreadableError",
    "RunWriter",
    "Track",
    "find_run",
    "header_of",
    "list_runs",
]
