"""Recent rows are written as they come; when there are enough of them, they become one block of compressed series."""

from __future__ import annotations

import sqlite3
import time
import zlib
from typing import Final

import numpy as np

from whygrad.bounded import decompress
from whygrad.store import block, digest
from whygrad.store.rows import Array, Rows, Track, joined, rows_from_bytes

_BLOCK_BYTES: Final = 8 << 20  # of rows, before compression
_LEAST_ROWS: Final = 32
_MOST_ROWS: Final = 4096


def rows_in_block(track: Track) -> int:
    return max(_LEAST_ROWS, min(_MOST_ROWS, _BLOCK_BYTES // track.row_bytes))


def write_tail(database: sqlite3.Connection, number: int, rows: Rows) -> None:
    """Add rows to the tail of a track, in the transaction that is open."""
    database.execute(
        "INSERT INTO tail (track, last, count, data) VALUES (?, ?, ?, ?)",
        (number, int(rows.steps[-1]), len(rows), block.sealed(rows.to_bytes())),
    )


def read_tail(database: sqlite3.Connection, number: int, track: Track) -> Rows:
    found = database.execute("SELECT data, count FROM tail WHERE track = ? ORDER BY id", (number,))
    return joined(track, [rows_from_bytes(track, block.unsealed(data), count) for data, count in found])


def due_for_a_block(database: sqlite3.Connection, number: int, track: Track, least: int | None = None) -> Rows | None:
    """The tail of a track, where it is long enough to become a block."""
    (waiting,) = database.execute("SELECT COALESCE(SUM(count), 0) FROM tail WHERE track = ?", (number,)).fetchone()
    return None if waiting < (least or rows_in_block(track)) else read_tail(database, number, track)


def write_block(database: sqlite3.Connection, number: int, rows: Rows) -> None:
    """Replace the tail of a track by a block, in the transaction that is open."""
    database.execute("DELETE FROM tail WHERE track = ?", (number,))
    made = database.execute(
        "INSERT INTO block (track, first, last, count, steps, scalars) VALUES (?, ?, ?, ?, ?, ?)",
        (
            number,
            int(rows.steps[0]),
            int(rows.steps[-1]),
            len(rows),
            encode_steps(rows.steps),
            block.encode(rows.scalars),
        ),
    )
    database.execute("INSERT INTO digest VALUES (?, ?)", (made.lastrowid, digest.encode(rows.values)))
    for variable, data in enumerate(block.encode_many(rows.values)):
        database.execute("INSERT INTO series VALUES (?, ?, ?)", (made.lastrowid, variable, data))
        if variable % 16 == 0:
            time.sleep(0)  # let the training have the interpreter


def encode_steps(steps: Array) -> bytes:
    return block.sealed(zlib.compress(np.diff(steps, prepend=0).astype("<i8").tobytes(), 1))


def decode_steps(data: bytes, count: int) -> Array:
    block.check_size(count, 1)
    differences = np.frombuffer(decompress(block.unsealed(data), 8 * count), "<i8")
    if len(differences) != count:
        raise ValueError(f"a stretch of {count} steps has {len(differences)}")
    return np.cumsum(differences)
