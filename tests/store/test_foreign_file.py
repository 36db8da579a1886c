"""A run file may be somebody else's: it is only read, and a sentence is the worst that comes of what it holds."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from store.samples import rows, track
from whygrad.cli.commands import whygrad
from whygrad.errors import UsageError
from whygrad.graph import Graph, Ledger
from whygrad.store import Run, RunUnreadableError, RunWriter, block, list_runs, run_file
from whygrad.store.overview import overview

TRACK = track()
TABLES = ("fact", "track", "tail", "block", "series", "event", "diagnostic", "graph", "ledger")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    writer = RunWriter.start(tmp_path_factory.mktemp("sound"))
    number = writer.add_track(TRACK)
    for start in range(0, 9_000, 4096):
        writer.append(number, rows(TRACK, range(start, min(start + 4096, 9_000))))
        writer.flush()
    writer.append(number, rows(TRACK, range(9_000, 9_010)))
    writer.add_event("epoch", {"epoch": 1}, step=5)
    writer.set_fact("silent_units", {"layer_0/kernel": [1, 4]})
    writer.close()
    assert writer.path is not None
    return writer.path


@pytest.fixture
def copy(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(sound, tmp_path / "brave-fox-11.sqlite"))


def read_all(run: Run) -> None:
    """Everything that can be asked of a run."""
    for ask in (run.facts, run.tracks, run.last_step, run.events, run.diagnostics, run.graph, run.ledger, run.check):
        with contextlib.suppress(UsageError):
            ask()
    with contextlib.suppress(UsageError):
        overview(run)
    with contextlib.suppress(UsageError):
        for each in run.tracks():
            run.everything(each.name)
            list(run.rows(each.name))


def execute(path: Path, *statements: str, values: tuple[Any, ...] = ()) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            database.execute(statement, values)


def test_the_questions_above_are_answered_by_a_sound_file(copy: Path) -> None:
    run = Run(copy)

    read_all(run)

    assert run.damage == []
    assert [len(found) for found in (run.events(), run.tracks(), overview(run))] == [1, 1, 3]


def test_a_reader_can_change_nothing(copy: Path) -> None:
    with run_file.open_to_read(copy) as database:
        for statement in ("DELETE FROM fact", "CREATE TABLE more (x)", f"ATTACH '{copy}2' AS other"):
            with pytest.raises(sqlite3.Error):
                database.execute(statement)
        assert database.execute("PRAGMA trusted_schema").fetchone() == (0,)
        assert database.execute("PRAGMA query_only").fetchone() == (1,)


PROGRAMS = [
    ("DROP TABLE fact", "CREATE VIEW fact AS SELECT 'name' AS key, hex(randomblob(100000000)) AS value"),
    ("CREATE TRIGGER more AFTER INSERT ON fact BEGIN DELETE FROM block; END",),
    ("ALTER TABLE event ADD COLUMN giant AS (zeroblob(1000000000))",),
    ("CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",),
    ("CREATE INDEX odd ON fact (length(value))",),
]


@pytest.mark.parametrize("statements", PROGRAMS, ids=lambda words: words[-1][:14])
def test_a_file_with_a_program_in_its_schema_is_refused(copy: Path, statements: tuple[str, ...]) -> None:
    execute(copy, *statements)

    with pytest.raises(RunUnreadableError, match="its tables are not those of a run"):
        Run(copy).facts()

    assert list_runs(copy.parent)[0].status == "unreadable"


def test_what_unpacks_to_more_than_it_says_is_refused(copy: Path) -> None:
    bomb = zlib.compress(bytes(20_000_000))
    execute(copy, "UPDATE block SET steps = ?", values=(block.sealed(bomb),))

    run = Run(copy)
    steps = run.series("layer_0/kernel").steps

    assert steps.tolist() == []
    assert "compressed data of more than" in run.damage[0]


def test_a_giant_graph_is_refused(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whygrad.bounded.MAX_JSON", 1000)
    execute(copy, "INSERT INTO graph VALUES (0, ?)", values=(zlib.compress(b"[" + b"0," * 100_000 + b"0]"),))

    with pytest.raises(RunUnreadableError, match="JSON of more than 1000 characters"):
        Run(copy).graph()


@pytest.mark.parametrize("count", [2**40, 2**62, -1])
def test_a_stretch_that_claims_to_be_giant_is_refused(copy: Path, count: int) -> None:
    constant = block.encode(np.zeros((4, 2)))
    execute(copy, "UPDATE block SET count = ?, scalars = ?", values=(count, constant))

    read_all(Run(copy))

    with pytest.raises(RunUnreadableError) if count > 0 else contextlib.nullcontext():
        Run(copy).scalars("adam")


FACTS = [
    ("environment", [1]),
    ("environment", {"pid": 2**80}),
    ("environment", {"argv": [3]}),
    ("environment", {"packages": 5}),
    ("started", "yesterday"),
    ("started", 1e300),
    ("thinned", []),
    ("status", {}),
    ("seen", None),
]


@pytest.mark.parametrize(("key", "value"), FACTS)
def test_facts_of_another_kind_are_refused_with_a_sentence(copy: Path, key: str, value: object) -> None:
    execute(copy, "INSERT OR REPLACE INTO fact VALUES (?, ?)", values=(key, json.dumps(value)))

    with pytest.raises(RunUnreadableError, match=f"its fact `{key}` is malformed"):
        Run(copy).facts()

    assert list_runs(copy.parent)[0].status == "unreadable"


def test_names_cannot_speak_to_the_terminal(copy: Path) -> None:
    value = json.dumps({"argv": ["[/red]", "\x1b[2J", "[link=file:///etc]x"], "packages": {}, "pid": 1})
    execute(copy, "INSERT OR REPLACE INTO fact VALUES ('environment', ?)", values=(value,))

    done = CliRunner().invoke(whygrad, ["show", str(copy)], standalone_mode=False)

    assert done.exception is None
    assert "[/red] ␛[2J [link=file:///etc]x" in done.output
    assert "\x1b" not in done.output


JUNK: list[Any] = [
    None,
    0,
    -1,
    2**62,
    1.5,
    float("inf"),
    "",
    "x",
    "[" * 5000,
    "{}",
    "[]",
    "null",
    b"",
    b"\x00" * 40,
    "1e400",
]


def change_a_value(path: Path, generator: random.Random) -> None:
    """Put junk into a cell: SQLite lets any column hold any type."""
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        table = generator.choice(TABLES)
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        with contextlib.suppress(sqlite3.IntegrityError, sqlite3.OperationalError):
            database.execute(f"UPDATE {table} SET {generator.choice(columns)} = ?", (generator.choice(JUNK),))


def change_some_json(path: Path, generator: random.Random) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        table, key, column = generator.choice(
            [("fact", "key", "value"), ("track", "id", "layout"), ("event", "id", "data")]
        )
        for number, text in database.execute(f"SELECT {key}, {column} FROM {table}").fetchall():
            words = json.loads(text)
            if isinstance(words, dict) and words:
                words[generator.choice(list(words))] = generator.choice(
                    [each for each in JUNK if type(each) is not bytes]
                )
            database.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (json.dumps(words), number))


def change_bytes(path: Path, generator: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(generator.randrange(1, 30)):
        content[generator.randrange(len(content))] = generator.randrange(256)
    path.write_bytes(content[: generator.choice([len(content), generator.randrange(len(content))])])


def change_packed(path: Path, generator: random.Random) -> None:
    """A graph or a ledger that is none."""
    data = json.dumps(generator.choice([*JUNK[:3], {"ops": 3}, {"kind": "Graph", "ops": [{"id": []}]}, [[[]]]]))
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("INSERT OR REPLACE INTO graph VALUES (0, ?)", (zlib.compress(data.encode()),))
        database.execute("INSERT OR REPLACE INTO ledger VALUES (1, ?)", (zlib.compress(data.encode()),))
        database.execute("INSERT INTO diagnostic (data) VALUES (?)", (data,))


@pytest.mark.parametrize("change", [change_a_value, change_some_json, change_bytes, change_packed])
@pytest.mark.parametrize("seed", range(3))
def test_a_changed_file_gives_a_sentence(
    sound: Path, tmp_path: Path, seed: int, change: Callable[[Path, random.Random], None]
) -> None:
    generator = random.Random(f"{change.__name__} {seed}")
    path = tmp_path / "brave-fox-11.sqlite"
    for _ in range(8):
        shutil.copy(sound, path)
        change(path, generator)
        before = path.read_bytes()

        read_all(Run(path))
        (header,) = list_runs(tmp_path)

        assert header.id == "brave-fox-11"
        assert path.read_bytes() == before
        assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("words", [["show"], ["show", "--variables"], ["compare", "{path}"], ["export", "--csv"]])
def test_commands_on_a_changed_file_end_with_a_report_or_a_sentence(
    sound: Path, tmp_path: Path, words: list[str]
) -> None:
    generator = random.Random(" ".join(words))
    path = tmp_path / "brave-fox-11.sqlite"
    for _ in range(4):
        shutil.copy(sound, path)
        generator.choice([change_a_value, change_some_json, change_packed])(path, generator)
        command = [words[0], str(path), *(word.format(path=path) for word in words[1:])]
        if words[0] == "export":
            command[-1] = f"--csv={tmp_path / 'out'}"

        done = CliRunner().invoke(whygrad, command, standalone_mode=False)

        assert done.exception is None or isinstance(done.exception, UsageError), done.exception


def test_a_graph_and_a_ledger_of_a_sound_file_come_back(copy: Path) -> None:
    assert isinstance(Run(copy).graph(), Graph | None)
    assert isinstance(Run(copy).ledger(), Ledger | None)
