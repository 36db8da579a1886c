"""A run as an event file that TensorBoard shows."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from whygrad.errors import UsageError
from whygrad.graph.series import CHANNELS
from whygrad.store import Rows, Run, Track

_VERSION: Final = "brain.Event:2"


def export_tensorboard(run: Run, folder: str | os.PathLike[str]) -> Path:
    """Write all numbers of a run to an event file in a folder of its own; its path."""
    place = Path(folder) / run.id
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"events.out.tfevents.{int(time.time())}.whygrad"
    tracks = [track.name for track in run.tracks()]
    kit = _kit(path)
    try:
        kit.write(kit.Event(wall_time=time.time(), file_version=_VERSION).SerializeToString())
        for name in tracks:
            prefix = "" if len(tracks) == 1 else f"{name}/"
            for track, rows in run.rows(name):
                for event in _events(kit, track, rows, prefix):
                    kit.write(event.SerializeToString())
    finally:
        kit.close()
    return path


def _kit(path: Path) -> Any:
    """TensorFlow's own writer of records and forms of events, or else TensorBoard's."""
    try:
        import tensorflow as tf

        writer, forms = tf.io.TFRecordWriter(str(path)), tf.compat.v1
        return SimpleNamespace(Event=forms.Event, write=writer.write, close=writer.close)
    except ImportError:
        pass
    try:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.summary.writer.record_writer import RecordWriter
    except ImportError as error:
        raise UsageError("the export needs tensorflow or tensorboard", help="pip install tensorboard") from error
    writer = RecordWriter(open(path, "wb"))  # noqa: SIM115
    return SimpleNamespace(Event=Event, write=writer.write, close=writer.close)


def _events(kit: Any, track: Track, rows: Rows, prefix: str) -> Iterator[Any]:
    """One event for each step, with all numbers that were taken at it."""
    names = list(track.scalars)
    clock = names.index("time") if "time" in names else None
    tags = [[f"{prefix}{channel}/{info.name}" for channel in CHANNELS] for info in track.variables]
    for i, step in enumerate(rows.steps):
        values = [
            (f"{prefix}{name}", float(rows.scalars[i, s]))
            for s, name in enumerate(names)
            if name not in ("time", "batch") and not math.isnan(rows.scalars[i, s])
        ]
        values += [
            (tags[v][c], float(rows.values[i, v, c]))
            for v in range(len(tags))
            for c in range(len(CHANNELS))
            if _is_taken(rows.values[i, v], c)
        ]
        when = float(rows.scalars[i, clock]) if clock is not None else math.nan
        event = kit.Event(wall_time=0.0 if math.isnan(when) else when, step=int(step))
        for tag, value in values:
            event.summary.value.add(tag=tag, simple_value=value)
        yield event


def _is_taken(channels: Any, c: int) -> bool:
    """NaN is a number that was taken only where the gradient itself was not finite."""
    return not math.isnan(channels[c]) or (CHANNELS[c] in ("sum", "norm") and channels[CHANNELS.index("nonfinite")] > 0)
