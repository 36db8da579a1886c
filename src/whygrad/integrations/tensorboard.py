"""A run as an event file that TensorBoard shows."""

from __future__ import annotations

import math
import os
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from whygrad.errors import UsageError
from whygrad.graph.series import CHANNELS
from whygrad.store import Rows, Run, Track

_VERSION: Final = b"brain.Event:2"

Write = Callable[[bytes], None]


def export_tensorboard(run: Run, folder: str | os.PathLike[str]) -> Path:
    """Write all numbers of a run to an event file in a folder of its own; its path."""
    place = Path(folder) / run.id
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"events.out.tfevents.{int(time.time())}.whygrad"
    tracks = [track.name for track in run.tracks()]
    write, close = _record_writer(path)
    try:
        write(_double(1, time.time()) + _bytes(3, _VERSION))
        for name in tracks:
            prefix = "" if len(tracks) == 1 else f"{name}/"
            for track, rows in run.rows(name):
                for event in _events(track, rows, prefix):
                    write(event)
    finally:
        close()
    return path


def _record_writer(path: Path) -> tuple[Write, Callable[[], None]]:
    """TensorFlow's own writer of records, or else TensorBoard's."""
    try:
        import tensorflow as tf

        writer: Any = tf.io.TFRecordWriter(str(path))
        return writer.write, writer.close
    except ImportError:
        pass
    try:
        from tensorboard.summary.writer.record_writer import RecordWriter
    except ImportError as error:
        raise UsageError("the export needs tensorflow or tensorboard", help="pip install tensorboard") from error
    writer = RecordWriter(open(path, "wb"))  # noqa: SIM115
    return writer.write, writer.close


def _events(track: Track, rows: Rows, prefix: str) -> Iterator[bytes]:
    """One event for each step, with all numbers that were taken at it."""
    names = list(track.scalars)
    clock = names.index("time") if "time" in names else None
    tags = [[f"{prefix}{channel}/{info.name}".encode() for channel in CHANNELS] for info in track.variables]
    for i, step in enumerate(rows.steps):
        values = [
            _value(f"{prefix}{name}".encode(), float(rows.scalars[i, s]))
            for s, name in enumerate(names)
            if name not in ("time", "batch") and not math.isnan(rows.scalars[i, s])
        ]
        values += [
            _value(tags[v][c], float(rows.values[i, v, c]))
            for v in range(len(tags))
            for c in range(len(CHANNELS))
            if _is_taken(rows.values[i, v], c)
        ]
        when = float(rows.scalars[i, clock]) if clock is not None else math.nan
        yield _double(1, 0.0 if math.isnan(when) else when) + _varint(2, int(step)) + _bytes(5, b"".join(values))


def _is_taken(channels: Any, c: int) -> bool:
    """NaN is a number that was taken only where the gradient itself was not finite."""
    return not math.isnan(channels[c]) or (CHANNELS[c] in ("sum", "norm") and channels[CHANNELS.index("nonfinite")] > 0)


# The little of the protocol buffers' wire format that an event needs.


def _value(tag: bytes, number: float) -> bytes:
    return _bytes(1, _bytes(1, tag) + bytes([0x15]) + struct.pack("<f", number))


def _double(field: int, number: float) -> bytes:
    return bytes([field << 3 | 1]) + struct.pack("<d", number)


def _bytes(field: int, data: bytes) -> bytes:
    return bytes([field << 3 | 2]) + _number(len(data)) + data


def _varint(field: int, number: int) -> bytes:
    return bytes([field << 3]) + _number(number)


def _number(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
