"""TensorBoard's own reader finds every number of the run in the export."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from store.samples import rows, spread, track
from whygrad.errors import UsageError
from whygrad.graph.histogram import KINDS
from whygrad.graph.series import CHANNELS
from whygrad.integrations.tensorboard import export_tensorboard
from whygrad.store import Rows, Run, RunWriter

TRACK = track(3)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    writer = RunWriter.start(tmp_path / "runs")
    part = rows(TRACK, range(0, 300, 3))
    values = part.values.copy()
    values[5, 0, CHANNELS.index("norm")] = np.nan  # not finite
    values[5, 0, CHANNELS.index("nonfinite")] = 2
    values[6, 0, CHANNELS.index("weight_norm")] = np.nan  # not taken
    number = writer.add_track(TRACK)
    writer.append(number, Rows(part.steps, part.scalars, values))
    for step in (0, 100):
        writer.add_histograms(number, step, spread(TRACK, step))
    writer.close()
    assert writer.path is not None
    return Run(writer.path)


def check(run: Run, folder: Path) -> None:
    accumulator = importlib.import_module("tensorboard.backend.event_processing.event_accumulator")
    path = export_tensorboard(run, folder)
    events = accumulator.EventAccumulator(str(path.parent), size_guidance={"scalars": 0, "tensors": 0, "histograms": 0})
    events.Reload()

    tags = events.Tags()["scalars"]
    assert len(tags) == len(TRACK.scalars) + 3 * len(CHANNELS)
    for name in TRACK.scalars:
        found = events.Scalars(name)
        assert [event.step for event in found] == list(range(0, 300, 3))
        np.testing.assert_array_equal(
            np.float32([event.value for event in found]), np.float32(run.scalars("adam").scalars[name])
        )
    for v, info in enumerate(TRACK.variables):
        series = run.series(info.name)
        for channel in CHANNELS:
            found = events.Scalars(f"{channel}/{info.name}")
            expected, steps = series.channels[channel], series.steps
            if (v, channel) == (0, "weight_norm"):
                expected, steps = np.delete(expected, 6), np.delete(steps, 6)
            assert [event.step for event in found] == steps.tolist()
            np.testing.assert_array_equal(np.float32([event.value for event in found]), expected)
    for kind in KINDS:
        found = events.Histograms(f"histograms/{kind}/layer_1/kernel")
        assert [event.step for event in found] == [0, 100]
        for event in found:
            assert sum(event.histogram_value.bucket) == event.histogram_value.num == 500
            assert len(event.histogram_value.bucket) == len(event.histogram_value.bucket_limit)


@pytest.mark.tensorflow
def test_tensorboard_reads_back_every_number(tf: ModuleType, run: Run, tmp_path: Path) -> None:
    check(run, tmp_path / "board")


def test_tensorboard_alone_is_enough(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorflow", None)

    check(run, tmp_path / "board")


def test_without_either_it_is_a_sentence(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    monkeypatch.setitem(sys.modules, "tensorboard.summary.writer.record_writer", None)

    with pytest.raises(UsageError, match="the export needs tensorflow or tensorboard"):
        export_tensorboard(run, tmp_path / "board")
