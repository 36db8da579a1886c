"""What is added to a run from outside: a name, a tag, a note, the report of the program that made it."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from whygrad.diagnostics import Diagnostic
from whygrad.graph.dataclass_json import to_plain
from whygrad.store.migrations import transaction
from whygrad.store.reader import Run
from whygrad.store.run_file import SET_FACT, open_to_write, unreadable

MOST_CHARACTERS: Final = 64 * 2**20  # of one document


def annotate(run: Run, facts: Mapping[str, object]) -> None:
    """Set facts of a run that a person gave: `name`, `tags`, `note`; None takes one away."""
    run.facts()  # a file that is no run is refused before it is touched
    with _opened(run.path) as database:
        for key, value in facts.items():
            if value is None:
                database.execute("DELETE FROM fact WHERE key = ?", (key,))
            else:
                database.execute(SET_FACT, (key, json.dumps(value)))


def attach(run: Run, documents: Mapping[str, str], diagnostics: Iterable[Diagnostic] = ()) -> None:
    """Keep texts with a run, and what was found in place of what the same rules found; a giant is left out."""
    found = list(diagnostics)
    with _opened(run.path) as database:
        for name, text in documents.items():
            if len(text) <= MOST_CHARACTERS:
                data = zlib.compress(text.encode(), 6)
                database.execute("INSERT OR REPLACE INTO document VALUES (?, ?)", (name, data))
        for rule in {each.rule for each in found}:
            database.execute("DELETE FROM diagnostic WHERE json_extract(data, '$.rule') = ?", (rule,))
        for each in found:
            database.execute("INSERT INTO diagnostic (data) VALUES (?)", (json.dumps(to_plain(each)),))


def delete(run: Run) -> None:
    """Remove the file of a run, and what SQLite keeps beside it."""
    for end in ("", "-wal", "-shm"):
        run.path.with_name(run.path.name + end).unlink(missing_ok=True)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """One transaction; afterwards the run is one file again, unless its writer is still at work."""
    try:
        with contextlib.closing(open_to_write(path)) as database:
            with transaction(database):
                yield database
            with contextlib.suppress(sqlite3.Error):
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                database.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        raise unreadable(path, error) from error
