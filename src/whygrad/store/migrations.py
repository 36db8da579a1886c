"""The tables of a run file, and how files of older versions become files of this one.

A migration is a named function that runs once, in a transaction. Never change one that was released: add one.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Final

APPLICATION_ID: Final = 0x57479A1D  # tells a run file from any other SQLite file

Migration = Callable[[sqlite3.Connection], None]


def first_tables(database: sqlite3.Connection) -> None:
    """Facts about the run, tracks of rows in blocks with a tail of recent rows, and what was found."""
    statements = (
        "CREATE TABLE fact (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE track (id INTEGER PRIMARY KEY, name TEXT NOT NULL, layout TEXT NOT NULL)",
        "CREATE TABLE tail (id INTEGER PRIMARY KEY, track INTEGER NOT NULL, last INTEGER NOT NULL,"
        " count INTEGER NOT NULL, data BLOB NOT NULL)",
        "CREATE TABLE block (id INTEGER PRIMARY KEY, track INTEGER NOT NULL, first INTEGER NOT NULL,"
        " last INTEGER NOT NULL, count INTEGER NOT NULL, steps BLOB NOT NULL, scalars BLOB NOT NULL)",
        "CREATE TABLE series (block INTEGER NOT NULL, variable INTEGER NOT NULL, data BLOB NOT NULL)",
        "CREATE UNIQUE INDEX series_of_block ON series (block, variable)",
        "CREATE TABLE event (id INTEGER PRIMARY KEY, step INTEGER, time REAL NOT NULL, kind TEXT NOT NULL,"
        " data TEXT NOT NULL)",
        "CREATE TABLE diagnostic (id INTEGER PRIMARY KEY, data TEXT NOT NULL)",
        "CREATE TABLE graph (step INTEGER PRIMARY KEY, data BLOB NOT NULL)",
        f"PRAGMA application_id = {APPLICATION_ID}",
    )
    for statement in statements:
        database.execute(statement)


def writes_to_variables(database: sqlite3.Connection) -> None:
    """Who wrote to which variable."""
    database.execute("CREATE TABLE ledger (id INTEGER PRIMARY KEY CHECK (id = 1), data BLOB NOT NULL)")


def documents_and_digests(database: sqlite3.Connection) -> None:
    """Long texts that are read on demand only, and a few numbers of each block, so that a long run is drawn at once."""
    database.execute("CREATE TABLE document (name TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID")
    database.execute("CREATE TABLE digest (block INTEGER PRIMARY KEY, data BLOB NOT NULL)")


def histograms(database: sqlite3.Connection) -> None:
    """How the elements of gradients, weights and updates were spread, at a few steps."""
    database.execute(
        "CREATE TABLE histogram (track INTEGER NOT NULL, step INTEGER NOT NULL, data BLOB NOT NULL,"
        " PRIMARY KEY (track, step))"
    )


MIGRATIONS: Final[tuple[Migration, ...]] = (first_tables, writes_to_variables, documents_and_digests, histograms)


def version_of(database: sqlite3.Connection) -> int:
    (version,) = database.execute("PRAGMA user_version").fetchone()
    return int(version)


@contextlib.contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """What is written inside is written whole or not at all."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def migrate(database: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring a database to the newest version; each step is done whole or not at all."""
    for version in range(version_of(database), len(migrations)):
        with transaction(database):
            migrations[version](database)
            database.execute(f"PRAGMA user_version = {version + 1}")
