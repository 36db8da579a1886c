"""A run as tables: one of what is known once a step, one of what is known of each variable at each step."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from whygrad.errors import UsageError
from whygrad.graph.series import CHANNELS
from whygrad.store import Rows, Run, Track


def export_csv(run: Run, folder: str | os.PathLike[str]) -> list[Path]:
    """`<run>-scalars.csv` and `<run>-variables.csv`; what was not taken is empty."""
    scalars, variables = _paths(run, folder, "csv")
    names = _scalar_names(run)
    with scalars.open("w", newline="") as one, variables.open("w", newline="") as two:
        first, second = csv.writer(one), csv.writer(two)
        first.writerow(["track", "step", *names])
        second.writerow(["track", "step", "variable", *CHANNELS])
        for track, rows in _all_rows(run):
            first.writerows(_lines(_scalar_columns(track, rows, names)))
            second.writerows(_lines(_variable_columns(track, rows)))
    return [scalars, variables]


def export_parquet(run: Run, folder: str | os.PathLike[str]) -> list[Path]:
    """`<run>-scalars.parquet` and `<run>-variables.parquet`."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise UsageError("Parquet needs pyarrow", help="pip install pyarrow") from error
    paths = _paths(run, folder, "parquet")
    names = _scalar_names(run)
    number = pa.float64()
    head = [("track", pa.string()), ("step", pa.int64())]
    schemas = (
        pa.schema([*head, *((name, number) for name in names)]),
        pa.schema([*head, ("variable", pa.string()), *((channel, number) for channel in CHANNELS)]),
    )
    writers = [parquet.ParquetWriter(str(path), schema) for path, schema in zip(paths, schemas, strict=True)]
    try:
        for track, rows in _all_rows(run):
            tables = (_scalar_columns(track, rows, names), _variable_columns(track, rows))
            for writer, schema, columns in zip(writers, schemas, tables, strict=True):
                writer.write_table(pa.Table.from_pydict(columns, schema))
    finally:
        for writer in writers:
            writer.close()
    return list(paths)


def _paths(run: Run, folder: str | os.PathLike[str], suffix: str) -> tuple[Path, Path]:
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    return place / f"{run.id}-scalars.{suffix}", place / f"{run.id}-variables.{suffix}"


def _all_rows(run: Run) -> Iterator[tuple[Track, Rows]]:
    for track in run.tracks():
        yield from ((layout, rows) for layout, rows in run.rows(track.name) if len(rows))


def _scalar_names(run: Run) -> list[str]:
    return list(dict.fromkeys(name for track in run.tracks() for name in track.scalars))


def _lines(columns: dict[str, Any]) -> Iterator[list[Any]]:
    """The same as the lines of a CSV file: a number that was not taken is empty."""
    listed = (np.asarray(column).tolist() for column in columns.values())
    return (["" if cell != cell else cell for cell in line] for line in zip(*listed, strict=True))


def _scalar_columns(track: Track, rows: Rows, names: Sequence[str]) -> dict[str, Any]:
    nothing = [math.nan] * len(rows)
    columns = {name: rows.scalars[:, track.scalars.index(name)] if name in track.scalars else nothing for name in names}
    return {"track": [track.name] * len(rows), "step": rows.steps, **columns}


def _variable_columns(track: Track, rows: Rows) -> dict[str, Any]:
    here = [i for i, info in enumerate(track.variables) if not info.missing]
    flat = rows.values[:, here].reshape(-1, len(CHANNELS)).astype(np.float64)
    return {
        "track": [track.name] * len(flat),
        "step": np.repeat(rows.steps, len(here)),
        "variable": [track.variables[i].name for i in here] * len(rows),
        **{channel: flat[:, c] for c, channel in enumerate(CHANNELS)},
    }
