"""Rows on their way into the store: what one optimizer did at some steps."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np

from whygrad.bounded import parse_json
from whygrad.graph.dataclass_json import from_plain
from whygrad.graph.series import CHANNELS, VariableInfo

Array = np.ndarray[Any, np.dtype[Any]]

_REPLICA: Final = ", replica "  # in names of tracks
_INFO: Final = tuple(field.name for field in fields(VariableInfo))


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """The shape of rows: one optimizer, its variables, and the numbers that are taken once a step."""

    name: str
    variables: tuple[VariableInfo, ...] = ()
    scalars: tuple[str, ...] = ()
    dtype: str = "float32"  # of the numbers of variables

    def to_json(self) -> str:
        variables = [[getattr(info, name) for name in _INFO] for info in self.variables]
        return json.dumps(
            {"name": self.name, "scalars": self.scalars, "dtype": self.dtype, "fields": _INFO, "variables": variables}
        )

    @property
    def is_of_replica(self) -> bool:
        """Whether the numbers are of the gradients of one replica alone, and not of what the optimizer was given."""
        return _REPLICA in self.name

    @property
    def row_bytes(self) -> int:
        return 8 + 8 * len(self.scalars) + np.dtype(self.dtype).itemsize * len(self.variables) * len(CHANNELS)


def of_replica(optimizer: str, number: int) -> str:
    """The name of the track with the gradients of one replica alone."""
    return f"{optimizer}{_REPLICA}{number}"


@functools.lru_cache(maxsize=64)
def track_from_json(text: str) -> Track:
    """What `Track.to_json` wrote, by this version or another: fields that are not known are left out."""
    data = parse_json(text)
    names = [name if name in _INFO else None for name in data["fields"]]
    variables = []
    for values in data["variables"]:
        given = {name: value for name, value in zip(names, values, strict=True) if name is not None}
        variables.append(from_plain(VariableInfo, given))
    if data["dtype"] not in ("float16", "float32", "float64"):
        raise ValueError(f"{data['dtype']!r} is not a type of numbers")
    scalars = from_plain(tuple[str, ...], data["scalars"])
    return Track(name=from_plain(str, data["name"]), variables=tuple(variables), scalars=scalars, dtype=data["dtype"])


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """k steps of one track."""

    steps: Array  # int64 [k], ascending
    scalars: Array  # float64 [k, scalars]
    values: Array  # [k, variables, channels], of the track's dtype

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def nbytes(self) -> int:
        return int(self.steps.nbytes + self.scalars.nbytes + self.values.nbytes)

    def pick(self, keep: Any) -> Rows:
        """The rows that an index or mask selects."""
        return Rows(self.steps[keep], self.scalars[keep], self.values[keep])

    def to_bytes(self) -> bytes:
        return b"".join(np.ascontiguousarray(part).tobytes() for part in (self.steps, self.scalars, self.values))


def empty_rows(track: Track) -> Rows:
    return rows_from_bytes(track, b"", 0)


def rows_from_bytes(track: Track, data: bytes, count: int) -> Rows:
    """What `Rows.to_bytes` wrote."""
    scalar_end = 8 * count * (1 + len(track.scalars))
    return Rows(
        np.frombuffer(data, np.int64, count),
        np.frombuffer(data[8 * count : scalar_end], np.float64).reshape(count, len(track.scalars)),
        np.frombuffer(data[scalar_end:], track.dtype).reshape(count, len(track.variables), len(CHANNELS)),
    )


def joined(track: Track, parts: Sequence[Rows]) -> Rows:
    if not parts:
        return empty_rows(track)
    if len(parts) == 1:
        return parts[0]
    return Rows(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("steps", "scalars", "values")))
