"""A run as an event file that TensorBoard shows."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from whygrad.errors import UsageError
from whygrad.integrations.step_log import logged_histograms, logged_steps, prefixes
from whygrad.store import Run

_VERSION: Final = "brain.Event:2"


def export_tensorboard(run: Run, folder: str | os.PathLike[str]) -> Path:
    """Write all numbers of a run to an event file in a folder of its own; its path."""
    place = Path(folder) / run.id
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"events.out.tfevents.{int(time.time())}.whygrad"
    tracks = prefixes(run)
    kit = _kit(path)
    try:
        kit.write(kit.Event(wall_time=time.time(), file_version=_VERSION).SerializeToString())
        for name, prefix in tracks.items():
            for event in _events(kit, run, name, prefix):
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


def _events(kit: Any, run: Run, track: str, prefix: str) -> Iterator[Any]:
    """One event for each step, with all numbers that were taken at it, then one for each histogram."""
    for one in logged_steps(run, track, prefix):
        event = kit.Event(wall_time=one.seconds, step=one.step)
        for tag, value in one.numbers:
            event.summary.value.add(tag=tag, simple_value=value)
        yield event
    for each in logged_histograms(run, track, prefix):
        event = kit.Event(step=each.step)
        form = event.summary.value.add(tag=each.name).histo
        form.min, form.max, form.num = each.edges[0], each.edges[-1], sum(each.counts)
        form.bucket_limit.extend(each.edges[1:])
        form.bucket.extend(each.counts)
        yield event
