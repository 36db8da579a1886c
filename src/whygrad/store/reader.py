"""Reading a run: while it is written, after its writer was killed, and as far as a damaged file goes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any, Final, TypeVar

import numpy as np

from whygrad.bounded import MAX_JSON, decompress, parse_json
from whygrad.diagnostics import Diagnostic
from whygrad.graph import Graph, Ledger
from whygrad.graph.dataclass_json import from_plain
from whygrad.graph.histogram import KINDS, WIDTH, VariableHistograms
from whygrad.graph.series import CHANNELS, TrackSeries, VariableInfo, VariableSeries
from whygrad.store import block, digest, histograms
from whygrad.store.compaction import decode_steps, read_tail
from whygrad.store.fact_form import check_facts
from whygrad.store.rows import Array, Rows, Track, empty_rows, track_from_json
from whygrad.store.run_file import DAMAGE, SUFFIX, RunNotFoundError, open_to_read, unreadable

T = TypeVar("T")
Stretch = tuple[int, Track, int]  # the number of a track, its layout, and the place of a variable in it

_MAX_ROWS: Final = 100_000_000  # of a track, in blocks


@dataclass(frozen=True, slots=True)
class RunEvent:
    """Something that happened once: the end of an epoch, steps that were left out."""

    step: int | None
    time: float
    kind: str
    data: Mapping[str, Any]


class Run:
    """A recorded run. Every question is answered from the file as it is at that moment."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damage: list[str] = []  # what could not be read so far, one sentence each

    @property
    def id(self) -> str:
        return self.path.name.removesuffix(SUFFIX)

    def facts(self) -> dict[str, Any]:
        """Name, status, start, end, environment and whatever else was noted of the run as a whole."""
        with open_to_read(self.path) as database:
            facts = {key: parse_json(value) for key, value in database.execute("SELECT key, value FROM fact")}
            check_facts(facts)
            return facts

    def tracks(self) -> list[Track]:
        """The optimizers of the run; one that was recorded in several stretches is there once."""
        with open_to_read(self.path) as database:
            return _merged_tracks(database)

    def variables(self) -> list[tuple[str, VariableInfo]]:
        """(track, variable) for each variable of each track."""
        return [(track.name, info) for track in self.tracks() for info in track.variables]

    def last_step(self) -> int | None:
        """The newest step that is recorded."""
        with open_to_read(self.path) as database:
            query = "SELECT MAX(last) FROM (SELECT last FROM tail UNION ALL SELECT last FROM block)"
            (last,) = database.execute(query).fetchone()
            return None if last is None else int(last)

    def scalars(self, track: str, blocks: int | None = None) -> TrackSeries:
        """Loss, learning rate, duration and the like over the steps of a track.

        Args:
            blocks: read so many stretches only, evenly spread, and what is newest.
        """
        with open_to_read(self.path) as database:
            return self._scalars(database, track, blocks)

    def _scalars(self, database: sqlite3.Connection, track: str, blocks: int | None) -> TrackSeries:
        parts = [
            (list(layout.scalars), rows.steps, rows.scalars.T)
            for number, layout in _tracks(database, track)
            for rows in self._stretches(database, number, layout, blocks=blocks)
        ]
        names = list(dict.fromkeys(name for known, _, _ in parts for name in known))
        steps, columns = _aligned(parts, names)
        return TrackSeries(name=track, steps=steps, scalars=columns)

    def series(self, variable: str, track: str | None = None, blocks: int | None = None) -> VariableSeries:
        """One variable over all its steps, or over so many evenly spread stretches of them."""
        with open_to_read(self.path) as database:
            found, silent = self._stretches_of(database, variable, track), _silent_units(database)
            return self._series(database, found, silent, {}, blocks)

    def _series(
        self,
        database: sqlite3.Connection,
        found: Sequence[Stretch],
        silent_units: Mapping[str, tuple[int, int]],
        tails: dict[int, Rows],
        blocks: int | None,
    ) -> VariableSeries:
        """One variable, where it was found; `tails` are those that were read for the variables before."""
        home, info = found[0][1].name, found[-1][1].variables[found[-1][2]]
        parts = [
            (list(CHANNELS), rows.steps, rows.values[:, 0].T)
            for number, layout, index in found
            if layout.name == home
            for rows in self._stretches(database, number, layout, [index], blocks, scalars=False, tails=tails)
        ]
        silent, units = silent_units.get(info.name, (None, None))
        steps, columns = _aligned(parts, CHANNELS)
        return VariableSeries(info=info, track=home, steps=steps, channels=columns, dead_units=silent, units=units)

    def histograms(self, variable: str, track: str | None = None, most: int | None = None) -> VariableHistograms:
        """How the elements of one variable were spread, at all steps that were looked at, or at so many of them."""
        with open_to_read(self.path) as database:
            found = self._stretches_of(database, variable, track)
            home = found[0][1].name
            query = "SELECT step FROM histogram WHERE track = ? ORDER BY step"
            places = [
                (number, layout, index, step)
                for number, layout, index in found
                if layout.name == home
                for (step,) in database.execute(query, (number,))
            ]
            if most is not None and len(places) > most:
                places = [places[i] for i in np.linspace(0, len(places) - 1, most).astype(int)]
            taken = [(step, self._salvaged(_histogram, database, *place, step)) for *place, step in places]
        known = [(step, values) for step, values in taken if values is not None]
        return VariableHistograms(
            name=variable,
            track=home,
            size=found[-1][1].variables[found[-1][2]].size,
            steps=np.array([step for step, _ in known], np.int64),
            values=np.array([values for _, values in known], np.float32).reshape(-1, len(KINDS), WIDTH),
        )

    def everything(self, track: str, blocks: int | None = None) -> TrackSeries:
        """All variables of a track, over all steps or so many evenly spread stretches of them."""
        with open_to_read(self.path) as database:
            scalars = self._scalars(database, track, blocks)
            places, silent, tails = _places(database, track), _silent_units(database), dict[int, Rows]()
            series = tuple(self._series(database, found, silent, tails, blocks) for found in places.values())
        return TrackSeries(name=track, steps=scalars.steps, scalars=scalars.scalars, variables=series)

    def rows(self, track: str) -> Iterator[tuple[Track, Rows]]:
        """All numbers of a track, a stretch of steps at a time; never more in memory than one stretch."""
        with open_to_read(self.path) as database:
            for number, layout in _tracks(database, track):
                everything = range(len(layout.variables))
                yield from ((layout, rows) for rows in self._stretches(database, number, layout, everything))

    def events(self, kind: str | None = None) -> list[RunEvent]:
        with open_to_read(self.path) as database:
            rows = database.execute("SELECT step, time, kind, data FROM event ORDER BY id")
            found = [RunEvent(s, t, k, parse_json(data)) for s, t, k, data in rows if kind in (None, k)]
            if not all(type(each.step) in (int, NoneType) and isinstance(each.data, dict) for each in found):
                raise ValueError("an event is malformed")
            return found

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        with open_to_read(self.path) as database:
            rows = database.execute("SELECT data FROM diagnostic ORDER BY id")
            return tuple(from_plain(Diagnostic, parse_json(data)) for (data,) in rows)

    def graph(self) -> Graph | None:
        """The ops of the first step; None where they were not recorded."""
        with open_to_read(self.path) as database:
            row = database.execute("SELECT data FROM graph ORDER BY step LIMIT 1").fetchone()
            return None if row is None else from_plain(Graph, parse_json(decompress(row[0])))

    def digests(self, track: str) -> list[tuple[int, int, Track, Array]]:
        """(first step, last step, layout, [variable, `digest.COLUMNS`]) of each block that has one, in order."""
        with open_to_read(self.path) as database:
            query = (
                "SELECT first, last, data FROM block JOIN digest ON digest.block = block.id"
                " WHERE track = ? ORDER BY block.id"
            )
            return [
                (first, last, layout, digest.decode(data, len(layout.variables)))
                for number, layout in _tracks(database, track)
                for first, last, data in database.execute(query, (number,))
            ]

    def recent(self, track: str) -> list[tuple[Track, Rows]]:
        """The rows that are in no block yet."""
        with open_to_read(self.path) as database:
            found = [(layout, self._salvaged(read_tail, database, n, layout)) for n, layout in _tracks(database, track)]
            return [(layout, rows) for layout, rows in found if rows is not None and len(rows)]

    def document(self, name: str) -> str | None:
        """A long text that was kept with the run; None where there is none of that name."""
        with open_to_read(self.path) as database:
            row = database.execute("SELECT data FROM document WHERE name = ?", (name,)).fetchone()
            return None if row is None else decompress(row[0], MAX_JSON).decode()

    def documents(self) -> frozenset[str]:
        """The names of the texts that were kept with the run."""
        with open_to_read(self.path) as database:
            return frozenset(name for (name,) in database.execute("SELECT name FROM document"))

    def ledger(self) -> Ledger | None:
        """Who wrote to which variable; None where that was not recorded."""
        with open_to_read(self.path) as database:
            tables = database.execute("SELECT name FROM sqlite_master WHERE name = 'ledger'").fetchone()
            row = None if tables is None else database.execute("SELECT data FROM ledger").fetchone()
            return None if row is None else from_plain(Ledger, parse_json(decompress(row[0])))

    def check(self) -> list[str]:
        """What SQLite finds wrong with the file; nothing where it is sound."""
        with open_to_read(self.path) as database:
            return [text for (text,) in database.execute("PRAGMA integrity_check") if text != "ok"]

    def _stretches_of(self, database: sqlite3.Connection, variable: str, track: str | None) -> list[Stretch]:
        """Where a variable is recorded."""
        found = _places(database, track).get(variable)
        if found is None:
            raise RunNotFoundError(
                f"run `{self.id}` has no variable `{variable}`", help=f"`whygrad show {self.id}` lists them"
            )
        return found

    def _stretches(
        self,
        database: sqlite3.Connection,
        number: int,
        track: Track,
        variables: Sequence[int] = (),
        blocks: int | None = None,
        *,
        scalars: bool = True,
        tails: dict[int, Rows] | None = None,
    ) -> Iterator[Rows]:
        """The rows of a track, a stretch at a time, with only the variables, and the scalars, that are asked for."""

        def read(block_id: int) -> Rows:
            query = "SELECT count, steps, scalars FROM block WHERE id = ?"
            count, steps, numbers = database.execute(query, (block_id,)).fetchone()
            block.check_size(count, len(variables) * len(CHANNELS))
            values = np.empty((count, len(variables), len(CHANNELS)), track.dtype)
            for place, index in enumerate(variables):
                query = "SELECT data FROM series WHERE block = ? AND variable = ?"
                (data,) = database.execute(query, (block_id, index)).fetchone()
                values[:, place] = block.decode(data, count, len(CHANNELS), track.dtype).T
            known = block.decode(numbers, count, len(track.scalars), "float64").T if scalars else np.empty((count, 0))
            return Rows(decode_steps(steps, count), known, values)

        yield from self._blocks(database, number, read, blocks)
        tails = {} if tails is None else tails
        if number not in tails:
            tails[number] = self._salvaged(read_tail, database, number, track) or empty_rows(track)
        tail = tails[number]
        yield Rows(tail.steps, tail.scalars, tail.values[:, list(variables)])

    def _blocks(
        self, database: sqlite3.Connection, number: int, read: Callable[[int], T], most: int | None
    ) -> Iterator[T]:
        found = database.execute("SELECT id FROM block WHERE track = ? ORDER BY id", (number,)).fetchall()
        (rows,) = database.execute("SELECT TOTAL(count) FROM block WHERE track = ?", (number,)).fetchone()
        if rows > _MAX_ROWS:
            raise ValueError(f"it claims to have {rows:.0f} steps")
        if most is not None and len(found) > most:
            found = [found[i] for i in np.linspace(0, len(found) - 1, most).astype(int)]
        for (block_id,) in found:
            value = self._salvaged(read, block_id)
            if value is not None:
                yield value

    def _salvaged(self, read: Callable[..., T], *arguments: Any) -> T | None:
        """What can be read; the rest of a damaged file is worth more than an error."""
        try:
            return read(*arguments)
        except DAMAGE as error:
            text = unreadable(self.path, error).message
            if text not in self.damage:
                self.damage.append(text)
            return None


def _silent_units(database: sqlite3.Connection) -> dict[str, tuple[int, int]]:
    row = database.execute("SELECT value FROM fact WHERE key = 'silent_units'").fetchone()
    return {} if row is None else {name: (int(few), int(all_)) for name, (few, all_) in parse_json(row[0]).items()}


def _places(database: sqlite3.Connection, track: str | None) -> dict[str, list[Stretch]]:
    """Where each variable is recorded, by its name."""
    found: dict[str, list[Stretch]] = {}
    for number, layout in _tracks(database, track):
        for index, info in enumerate(layout.variables):
            found.setdefault(info.name, []).append((number, layout, index))
    return found


def _merged_tracks(database: sqlite3.Connection) -> list[Track]:
    merged: dict[str, Track] = {}
    for _, track in _tracks(database):
        known = merged.get(track.name)
        merged[track.name] = track if known is None else _merge(known, track)
    return list(merged.values())


def _tracks(database: sqlite3.Connection, name: str | None = None) -> list[tuple[int, Track]]:
    rows = database.execute("SELECT id, name, layout FROM track ORDER BY id").fetchall()
    return [(number, track_from_json(layout)) for number, each, layout in rows if name in (None, each)]


def _histogram(database: sqlite3.Connection, number: int, layout: Track, index: int, step: int) -> Array:
    query = "SELECT data FROM histogram WHERE track = ? AND step = ?"
    (data,) = database.execute(query, (number, step)).fetchone()
    return histograms.decode(data, len(layout.variables), index)


def _merge(first: Track, second: Track) -> Track:
    variables = {info.name: info for info in (*first.variables, *second.variables)}
    return Track(
        name=first.name,
        variables=tuple(variables.values()),
        scalars=tuple(dict.fromkeys((*first.scalars, *second.scalars))),
        dtype=second.dtype,
    )


def _aligned(parts: Sequence[tuple[list[str], Array, Array]], wanted: Sequence[str]) -> tuple[Array, dict[str, Array]]:
    """Stretches with possibly different columns as one: (names, steps, [name, step]) each; NaN where one has none."""
    if not parts:
        return np.zeros(0, np.int64), {name: np.zeros(0) for name in wanted}
    steps = np.concatenate([steps for _, steps, _ in parts])
    columns = {
        name: np.concatenate(
            [v[known.index(name)] if name in known else np.full(len(s), np.nan) for known, s, v in parts]
        )
        for name in wanted
    }
    return steps, columns
