"""The run store: one SQLite file a run, written in the background, read at any moment."""

from whygrad.store.annotation import annotate as annotate
from whygrad.store.annotation import attach as attach
from whygrad.store.annotation import delete as delete
from whygrad.store.folder import RunHeader as RunHeader
from whygrad.store.folder import find_run as find_run
from whygrad.store.folder import header_of as header_of
from whygrad.store.folder import list_runs as list_runs
from whygrad.store.folder import workers_of as workers_of
from whygrad.store.reader import Run as Run
from whygrad.store.reader import RunEvent as RunEvent
from whygrad.store.rows import Rows as Rows
from whygrad.store.rows import Track as Track
from whygrad.store.run_file import RunNotFoundError as RunNotFoundError
from whygrad.store.run_file import RunUnreadableError as RunUnreadableError
from whygrad.store.writer import RunWriter as RunWriter
