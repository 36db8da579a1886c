"""The one writer of a run: takes rows without waiting, writes them in the background, gives way where it must."""

from __future__ import annotations

import atexit
import json
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from whygrad.diagnostics import Diagnostic
from whygrad.graph import Graph, Ledger
from whygrad.graph.dataclass_json import to_plain
from whygrad.notice import warn
from whygrad.run_folder import note_run, run_folder
from whygrad.store import run_file
from whygrad.store.backlog import Backlog
from whygrad.store.environment import environment
from whygrad.store.histograms import encode
from whygrad.store.rows import Array, Rows, Track
from whygrad.store.scribe import Scribe

BACKLOG_BYTES: Final = 64 << 20
_MOST_WAITING: Final = 64 << 20  # bytes of histograms; what comes beyond them is left out
_PATIENCE: Final = 20.0  # seconds to wait at the end for a disk that does not answer


class RunWriter:
    """A run being recorded. Once started nothing here raises, or waits for the disk; trouble is told once on stderr."""

    def __init__(self, run_id: str, path: Path | None, scribe: Scribe | None, first_track: int = 1) -> None:
        self.id = run_id
        self.path = path  # None: nothing can be written, and what is given is dropped
        self._scribe = scribe
        self._next_track = first_track
        self._process = os.getpid()
        self._closed = False
        if scribe is not None:
            atexit.register(self.close, "interrupted")

    @classmethod
    def start(
        cls,
        folder: str | os.PathLike[str] | None = None,
        *,
        name: str = "",
        facts: Mapping[str, object] | None = None,
        frameworks: Iterable[str] = (),
    ) -> RunWriter:
        """A new run. Where its folder cannot be written it goes to the system's folder for such files, and says so."""
        wanted = run_folder(folder)
        problem: Exception | None = None
        now = time.time()
        said = {"name": name, "started": now, "seen": now, "status": "running", **(facts or {})}
        said["environment"] = environment(frameworks)
        for place in (wanted, run_file.spare_folder()):
            try:
                run_id, path, database = run_file.create(place, said)
            except (OSError, sqlite3.Error) as error:
                problem = problem or error
                continue
            if problem is not None:
                warn(f"cannot record into `{wanted}` ({problem}); this run is recorded as `{path}`")
            note_run(path)
            return cls(run_id, path, Scribe(path, database, Backlog(BACKLOG_BYTES)))
        warn(f"cannot record into `{wanted}` ({problem}), nor anywhere else; the training goes on unrecorded")
        return cls("", None, None)

    @classmethod
    def resume(cls, path: Path, *, frameworks: Iterable[str] = ()) -> RunWriter:
        """Go on with a run that was closed."""
        try:
            database = run_file.open_to_write(path, secured=False)
            (last,) = database.execute("SELECT COALESCE(MAX(id), 0) FROM track").fetchone()
        except (OSError, sqlite3.Error) as error:
            warn(f"cannot go on recording into `{path}` ({error}); the training goes on unrecorded")
            return cls("", None, None)
        scribe = Scribe(path, database, Backlog(BACKLOG_BYTES))
        writer = cls(path.name.removesuffix(run_file.SUFFIX), path, scribe, first_track=last + 1)
        writer.set_fact("status", "running")
        writer.set_fact("environment", environment(frameworks))
        return writer

    def add_track(self, track: Track) -> int:
        """Announce rows of one form; the number is to be given with them."""
        number = self._next_track
        self._next_track += 1
        if self._scribe is not None:
            self._scribe.tracks[number] = track
        self._order("INSERT INTO track (id, name, layout) VALUES (?, ?, ?)", number, track.name, track.to_json())
        return number

    def append(self, number: int, rows: Rows) -> None:
        scribe = self._working()
        if scribe is not None and len(rows):
            scribe.backlog.add(number, scribe.tracks[number], rows)

    def add_histograms(self, number: int, step: int, values: Array) -> None:
        """Those of all variables of a track, [variables, kinds, width]; left out where the disk does not keep up."""
        scribe = self._working()
        if scribe is not None and scribe.waiting * values.nbytes < _MOST_WAITING:
            self._order("INSERT OR REPLACE INTO histogram VALUES (?, ?, ?)", number, step, encode(values))

    def add_source(self, poll: Callable[[], None]) -> None:
        """Something that appends rows when asked to, from the writer's thread, before each commit."""
        if self._scribe is not None:
            self._scribe.add_source(poll)

    def remove_source(self, poll: Callable[[], None]) -> None:
        if self._scribe is not None:
            self._scribe.remove_source(poll)

    def add_event(self, kind: str, data: Mapping[str, object], step: int | None = None) -> None:
        statement = "INSERT INTO event (step, time, kind, data) VALUES (?, ?, ?, ?)"
        self._order(statement, step, time.time(), kind, json.dumps(data, default=str))

    def add_diagnostic(self, diagnostic: Diagnostic) -> None:
        self._order("INSERT INTO diagnostic (data) VALUES (?)", json.dumps(to_plain(diagnostic)))

    def replace_diagnostics(self, diagnostics: Iterable[Diagnostic], *, rules: Iterable[str]) -> None:
        """Keep these in place of all that the given rules found before."""
        for rule in rules:
            self._order("DELETE FROM diagnostic WHERE json_extract(data, '$.rule') = ?", rule)
        for diagnostic in diagnostics:
            self.add_diagnostic(diagnostic)

    def set_graph(self, step: int, data: bytes) -> None:
        """The ops of one step, a graph that is `packed`; the first that is given stays."""
        self._order("INSERT OR IGNORE INTO graph (step, data) VALUES (?, ?)", step, data)

    def set_ledger(self, ledger: Ledger) -> None:
        """Who wrote to which variable so far; the last that is given stays."""
        self._order("INSERT OR REPLACE INTO ledger (id, data) VALUES (1, ?)", packed(ledger))

    def set_fact(self, key: str, value: object) -> None:
        self._order(run_file.SET_FACT, key, json.dumps(value, default=str))

    def flush(self, seconds: float = _PATIENCE) -> bool:
        """Wait until what was given so far is on the disk; False: it is not."""
        scribe = self._working()
        return scribe is not None and scribe.flush(seconds)

    def close(self, status: str = "finished", failure: str | None = None) -> None:
        """Write what is left and leave one file behind, without a journal."""
        scribe = self._working()
        if scribe is None or self._closed:
            return
        self._closed = True
        atexit.unregister(self.close)
        self.set_fact("status", status)
        self.set_fact("ended", time.time())
        if failure is not None:
            self.set_fact("failure", failure)
        if not scribe.close(_PATIENCE):
            warn(f"`{self.path}` was not closed: the disk does not answer; what was written can be read")

    def _working(self) -> Scribe | None:
        """None where there is nothing to write to, or in a forked child, whose copy of the writer has no thread."""
        if self._scribe is None or self._scribe.is_done or os.getpid() != self._process:
            return None
        return self._scribe

    def _order(self, statement: str, *values: Any) -> None:
        scribe = self._working()
        if scribe is not None:
            scribe.order(statement, *values)


def packed(data: Graph | Ledger) -> bytes:
    """A graph or a ledger as a run keeps it."""
    return zlib.compress(json.dumps(to_plain(data)).encode())
