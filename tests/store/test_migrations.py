"""Files of older versions are read and carried on, those of newer ones are refused with a sentence."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from store.samples import rows, same, track
from whygrad.store import Run, RunUnreadableError, RunWriter, migrations, run_file
from whygrad.store.compaction import read_tail
from whygrad.store.migrations import MIGRATIONS, migrate, version_of


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    writer = RunWriter.start(tmp_path)
    number = writer.add_track(track())
    writer.append(number, rows(track(), range(10)))
    writer.close()
    assert writer.path is not None
    return writer.path


def add_colour(database: sqlite3.Connection) -> None:
    database.execute("ALTER TABLE event ADD COLUMN colour TEXT DEFAULT 'red'")


def test_older_file_is_read_through_a_copy_and_left_as_it_is(
    recorded: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    before = recorded.read_bytes()
    newer = (*MIGRATIONS, add_colour)
    monkeypatch.setattr(run_file, "MIGRATIONS", newer)
    monkeypatch.setattr(run_file, "migrate", lambda database, upto=newer: migrate(database, upto))
    run_file._schema_at.cache_clear()
    request.addfinalizer(run_file._schema_at.cache_clear)

    with run_file.open_to_read(recorded) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(event)")]
        assert same(read_tail(database, 99, track()), rows(track(), range(0)))
    assert "colour" in columns
    assert recorded.read_bytes() == before
    assert Run(recorded).last_step() == 9


def test_older_file_is_migrated_when_it_is_carried_on(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_file, "migrate", lambda database: migrate(database, (*MIGRATIONS, add_colour)))

    run_file.open_to_write(recorded).close()

    with sqlite3.connect(recorded) as database:
        assert version_of(database) == len(MIGRATIONS) + 1
        assert "colour" in [row[1] for row in database.execute("PRAGMA table_info(event)")]


def test_a_migration_that_fails_leaves_the_file_as_it_was(recorded: Path) -> None:
    def half(database: sqlite3.Connection) -> None:
        add_colour(database)
        raise sqlite3.OperationalError("disk full")

    database = sqlite3.connect(recorded, isolation_level=None)
    with pytest.raises(sqlite3.OperationalError):
        migrate(database, (*MIGRATIONS, half))

    assert version_of(database) == len(MIGRATIONS)
    assert "colour" not in [row[1] for row in database.execute("PRAGMA table_info(event)")]
    database.close()


def test_newer_file_is_refused_with_a_sentence(recorded: Path) -> None:
    with sqlite3.connect(recorded) as database:
        database.execute("PRAGMA user_version = 7")

    with pytest.raises(RunUnreadableError) as caught:
        Run(recorded).facts()

    assert str(caught.value) == (
        f"run file `{recorded}` was written by a newer whygrad: "
        f"it has format 7, this one reads up to {len(MIGRATIONS)}\n"
        "help: pip install --upgrade whygrad"
    )


def test_application_id_tells_run_files_from_others(tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE t (x)")

    with pytest.raises(RunUnreadableError, match="is not a run file"):
        Run(other).facts()
    assert migrations.APPLICATION_ID < 1 << 31  # what SQLite can keep
