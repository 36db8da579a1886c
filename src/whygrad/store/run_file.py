"""Making and opening run files: one SQLite file a run."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import secrets
import sqlite3
import sys
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from whygrad.errors import UsageError
from whygrad.store.migrations import APPLICATION_ID, MIGRATIONS, migrate, transaction, version_of

SUFFIX: Final = ".sqlite"
SET_FACT: Final = "INSERT OR REPLACE INTO fact (key, value) VALUES (?, ?)"
_PAGE: Final = 8192
_MAX_VALUE: Final = 256 * 2**20  # bytes of one value; the largest, a block of series, is about 8 MB

_FIRST: Final = """
    amber bold brave brisk calm clear crisp deep dusty early eager fair fast fine fond free fresh gentle glad gold grand
    green happy high jolly keen kind light lively lucky mellow merry mild misty neat new noble pale plain proud pure
    quick quiet rapid rare red ripe rosy royal shy silver sleek small snowy soft solid spry steady still stout sunny
    swift tall tidy true vivid warm wild wise young
"""
_SECOND: Final = """
    ant badger bear beaver bee bird bison boar crab crane crow deer dove duck eagle egret elk falcon ferret finch fish
    fox frog gecko goat goose hare hawk heron horse ibis jay kite koala lark lemur lion llama lynx magpie marten mole
    moose moth mouse newt orca otter owl ox panda pike pony puffin quail raven robin salmon seal shrew snail sparrow
    stork swan tern tiger toad trout turtle vole walrus wasp whale wolf wren yak zebra
"""

# What reading a file may raise whose content is not what it says.
_MALFORMED: Final = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError)
DAMAGE: Final = (sqlite3.Error, zlib.error, MemoryError, RecursionError, *_MALFORMED)


class RunNotFoundError(UsageError):
    """No run, or more than one, goes by the given name."""


class RunUnreadableError(UsageError):
    """A run file is damaged, of a newer version, or no run file at all."""


def new_id() -> str:
    """A name out of half a million. Drawn from the system, never from the random numbers of the training."""
    first, second = secrets.choice(_FIRST.split()), secrets.choice(_SECOND.split())
    return f"{first}-{second}-{secrets.randbelow(90) + 10}"


def spare_folder() -> Path:
    """Where a run goes whose own folder cannot be written."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"whygrad-{user}"


def create(folder: Path, facts: Mapping[str, object]) -> tuple[str, Path, sqlite3.Connection]:
    """A new run file with some facts in it, and an id that no other file there has; two at the same moment get two."""
    folder.mkdir(parents=True, exist_ok=True)
    while True:
        run_id = new_id()
        path = folder / f"{run_id}{SUFFIX}"
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        except FileExistsError:
            continue
        try:
            return run_id, path, open_to_write(path, {"id": run_id, **facts}, secured=False)
        except BaseException:
            with contextlib.suppress(OSError):
                path.unlink()
            raise


def open_to_write(path: Path, facts: Mapping[str, object] | None = None, *, secured: bool = True) -> sqlite3.Connection:
    """A connection for the one writer of a run, to which it adds facts; it waits for no disk before it is secured."""
    database = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5)
    try:
        database.execute("PRAGMA synchronous = OFF")
        database.execute(f"PRAGMA page_size = {_PAGE}")
        database.execute("PRAGMA auto_vacuum = INCREMENTAL")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA journal_size_limit = 16777216")
        migrate(database)
        if facts:
            with transaction(database):
                database.executemany(SET_FACT, [(key, json.dumps(value, default=str)) for key, value in facts.items()])
        if secured:
            secure(path, database)
    except BaseException:
        database.close()
        raise
    return database


def secure(path: Path, database: sqlite3.Connection) -> None:
    """What is committed from here on survives the loss of power."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
    database.execute("PRAGMA synchronous = FULL")


@contextlib.contextmanager
def open_to_read(path: Path) -> Iterator[sqlite3.Connection]:
    """A view of a run at one moment, while it is written or after its writer was killed."""
    if not path.is_file():
        raise RunUnreadableError(f"there is no run file `{path}`")
    with contextlib.ExitStack() as stack:
        try:
            database = _current(_connect(path, stack), path, stack)
        except DAMAGE as error:
            raise unreadable(path, error) from error
        try:
            yield database
        except DAMAGE as error:
            raise unreadable(path, error) from error


def unreadable(path: Path, error: Exception) -> RunUnreadableError:
    if path.stat().st_size == 0:
        return empty(path)
    return RunUnreadableError(
        f"run file `{path}` is damaged: {error}",
        help="nothing was changed in it; `whygrad runs` lists the runs that can be read",
    )


def empty(path: Path) -> RunUnreadableError:
    return RunUnreadableError(f"run file `{path}` is empty", help="its run ended before anything was recorded")


def _connect(path: Path, stack: contextlib.ExitStack) -> sqlite3.Connection:
    try:
        return _read_only(path, stack)
    except sqlite3.OperationalError:
        # A file whose writer was killed needs a place for its journal's index: read a copy where its folder has none.
        copy = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="whygrad-"))) / path.name
        for source in (path, path.with_name(f"{path.name}-wal")):
            if source.exists():
                copy.with_name(copy.name + source.name.removeprefix(path.name)).write_bytes(source.read_bytes())
        return _read_only(copy, stack)


def _read_only(path: Path, stack: contextlib.ExitStack) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode=ro"
    database = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=5)
    stack.callback(database.close)
    _distrust(database)
    database.execute("BEGIN")
    database.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone()
    return database


def _distrust(database: sqlite3.Connection) -> None:
    """The file may be somebody else's: it may change nothing, call nothing, and hand out nothing of any size."""
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA query_only = ON")
    database.execute("PRAGMA cell_size_check = ON")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE)
    database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    if sys.version_info >= (3, 12):
        database.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)


def _current(database: sqlite3.Connection, path: Path, stack: contextlib.ExitStack) -> sqlite3.Connection:
    """The database at the version of this program.

    An older file gets the tables that it lacks, empty and for this reader only; where more than that has changed since,
    it is read through a copy in memory.
    """
    (application,) = database.execute("PRAGMA application_id").fetchone()
    version = version_of(database)
    if application != APPLICATION_ID:
        raise empty(path) if path.stat().st_size == 0 else RunUnreadableError(f"`{path}` is not a run file")
    if version > len(MIGRATIONS):
        raise RunUnreadableError(
            f"run file `{path}` was written by a newer whygrad: it has format {version}, this one reads up to"
            f" {len(MIGRATIONS)}",
            help="pip install --upgrade whygrad",
        )
    if _schema_of(database) != _schema_at(version):
        raise RunUnreadableError(f"run file `{path}` is damaged: its tables are not those of a run")
    if version == len(MIGRATIONS):
        return database
    if _schema_at(version) <= _schema_at(len(MIGRATIONS)):
        _add_empty_tables(database, version)
        return database
    memory = sqlite3.connect(":memory:", isolation_level=None)
    stack.callback(memory.close)
    database.backup(memory)
    migrate(memory)
    return memory


def _add_empty_tables(database: sqlite3.Connection, version: int) -> None:
    database.execute("PRAGMA query_only = OFF")
    for _, _, statement in _schema_at(len(MIGRATIONS)) - _schema_at(version):
        database.execute(statement.replace("CREATE TABLE", "CREATE TEMP TABLE", 1))
    database.execute("PRAGMA query_only = ON")


def _schema_of(database: sqlite3.Connection) -> set[tuple[str, str, str]]:
    return set(database.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL"))


@functools.cache
def _schema_at(version: int) -> set[tuple[str, str, str]]:
    """The tables of a format. A view, a trigger or a generated column in their place would be a program."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        migrate(database, MIGRATIONS[:version])
        return _schema_of(database)
