"""The thread that writes: all that waits in one transaction four times a second, again and again until it is done."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from whygrad.notice import warn
from whygrad.store.backlog import Backlog
from whygrad.store.compaction import due_for_a_block, write_block, write_tail
from whygrad.store.migrations import transaction
from whygrad.store.rows import Track
from whygrad.store.run_file import SET_FACT, secure

COMMIT_SECONDS: Final = 0.25  # so that what was recorded a second ago is on the disk
_LONGEST_PAUSE: Final = 5.0  # between attempts, where the disk refuses
_MOST_ORDERS: Final = 10_000  # events and the like that may wait

Order = tuple[str, tuple[Any, ...]]


class Scribe:
    """Owns the database of one run. What it cannot write it tries again; it never raises and never gives up a run."""

    def __init__(self, path: Path, database: sqlite3.Connection, backlog: Backlog) -> None:
        self.path = path
        self.backlog = backlog
        self.tracks: dict[int, Track] = {}
        self._database = database
        self._orders: list[Order] = []
        self._sources: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._wake, self._closing = threading.Event(), threading.Event()
        self._rounds = threading.Condition()
        self._begun = self._written = self._failures = 0
        self._secured = False
        self._told: set[str] = set()
        self._thread = threading.Thread(target=self._work, name="whygrad-scribe", daemon=True)
        self._thread.start()

    def order(self, statement: str, *values: Any) -> None:
        """Have a statement executed in the next transaction, before the rows that wait."""
        with self._lock:
            if len(self._orders) < _MOST_ORDERS:
                self._orders.append((statement, values))

    @property
    def waiting(self) -> int:
        """Statements that are not executed yet."""
        return len(self._orders)

    def add_source(self, poll: Callable[[], None]) -> None:
        with self._lock:
            self._sources.append(poll)

    def remove_source(self, poll: Callable[[], None]) -> None:
        with self._lock:
            self._sources = [source for source in self._sources if source != poll]

    def flush(self, seconds: float) -> bool:
        """Wait until what was given so far is on the disk; False: it is not."""
        with self._rounds:
            wanted = self._begun + 1
            self._wake.set()
            return self._rounds.wait_for(lambda: self._written >= wanted, seconds)

    def close(self, seconds: float) -> bool:
        """Write what is left; False: the disk does not answer."""
        self._closing.set()
        self._wake.set()
        self._thread.join(seconds)
        return not self._thread.is_alive()

    @property
    def is_done(self) -> bool:
        """Nothing that comes now will be written."""
        return not self._thread.is_alive()

    def _work(self) -> None:
        while not self._closing.is_set():
            self._wake.wait(min(COMMIT_SECONDS * 2**self._failures, _LONGEST_PAUSE))
            self._wake.clear()
            self._round()
        self._database.execute("PRAGMA synchronous = NORMAL")  # what comes now is on the disk once it is finished
        if not self._round():
            lost = sum(len(rows) for _, rows in self.backlog.take())
            warn(f"the last {lost} steps could not be written to `{self.path}`; the steps before them can be read")
        self._finish()

    def _round(self) -> bool:
        with self._rounds:
            self._begun += 1
        self._poll()
        if not self._attempt(self._write) or not self._attempt(self._compact):
            self._failures = min(self._failures + 1, 5)
            return False
        with self._rounds:
            self._failures, self._written = 0, self._begun
            self._rounds.notify_all()
        return True

    def _poll(self) -> None:
        with self._lock:
            sources = list(self._sources)
        for source in sources:
            try:
                source()
            except Exception as error:
                self.remove_source(source)
                self._tell("source", f"recording stopped after an internal error: {type(error).__name__}: {error}")

    def _attempt(self, write: Callable[[], None]) -> bool:
        try:
            write()
        except (sqlite3.Error, OSError) as error:
            self._tell("disk", f"cannot write to `{self.path}` ({error}); trying again, the training goes on")
            return False
        return True

    def _write(self) -> None:
        """One transaction with all that waits; where it fails, all of it waits again."""
        if not self._secured:
            secure(self.path, self._database)
            self._secured = True
        taken = self.backlog.take()
        with self._lock:
            orders, self._orders = self._orders, []
        if not taken and not orders:
            return
        try:
            facts = {"seen": time.time()} | ({"thinned": self.backlog.thinned} if self.backlog.thinned else {})
            with transaction(self._database):
                for statement, values in orders:
                    self._database.execute(statement, values)
                for number, rows in taken:
                    write_tail(self._database, number, rows)
                for key, value in facts.items():
                    self._database.execute(SET_FACT, (key, json.dumps(value)))
        except BaseException:
            self.backlog.put_back(taken)
            with self._lock:
                self._orders = [*orders, *self._orders][:_MOST_ORDERS]
            raise
        if self.backlog.thinned:
            self._tell("thinned", f"the disk is too slow to take every step: some are left out of `{self.path}`")

    def _compact(self, least: int | None = None) -> None:
        for number, track in list(self.tracks.items()):
            rows = due_for_a_block(self._database, number, track, least)
            if rows is not None:
                with transaction(self._database):
                    write_block(self._database, number, rows)

    def _finish(self) -> None:
        try:
            self._compact(least=1)
            self._database.execute("PRAGMA incremental_vacuum").fetchall()
            self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._database.execute("PRAGMA synchronous = OFF")  # all is on the disk; what comes is two bytes of a page
            self._database.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.Error:
            pass  # all of it can be read as it is
        finally:
            self._database.close()

    def _tell(self, topic: str, text: str) -> None:
        if topic not in self._told:
            self._told.add(topic)
            warn(text)
