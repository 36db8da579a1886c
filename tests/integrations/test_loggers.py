"""Weights & Biases and MLflow, each in its offline mode, find the numbers of the run in the export."""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from store.samples import rows, spread, track
from whygrad.errors import UsageError
from whygrad.graph.series import CHANNELS
from whygrad.integrations.mlflow import export_mlflow
from whygrad.integrations.wandb import export_wandb
from whygrad.store import Rows, Run, RunWriter, annotate

TRACK = track(2)
STEPS = range(0, 60, 3)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    writer = RunWriter.start(tmp_path / "runs", name="first: try")
    part = rows(TRACK, STEPS)
    values = part.values.copy()
    values[5, 0, CHANNELS.index("norm")] = np.nan  # not finite
    values[5, 0, CHANNELS.index("nonfinite")] = 2
    number = writer.add_track(TRACK)
    writer.append(number, Rows(part.steps, part.scalars, values))
    writer.add_histograms(number, 30, spread(TRACK, 30))
    writer.close()
    assert writer.path is not None
    made = Run(writer.path)
    annotate(made, {"tags": ["good"]})
    return made


@pytest.mark.filterwarnings("ignore")  # of the packages that it uses
def test_mlflow_reads_back_every_number(run: Run, tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")

    path = export_mlflow(run, tmp_path / "store")

    client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{path}")
    (found,) = client.search_runs([client.get_experiment_by_name("whygrad").experiment_id])
    assert (found.info.run_name, found.info.status) == ("first: try", "FINISHED")
    assert found.data.tags["whygrad.run"] == run.id
    loss = sorted((each.step, each.value) for each in client.get_metric_history(found.info.run_id, "loss"))
    assert loss == list(zip(STEPS, run.scalars("adam").scalars["loss"], strict=True))
    norm = sorted(
        (each.step, each.value) for each in client.get_metric_history(found.info.run_id, "norm/layer_0/kernel")
    )
    np.testing.assert_array_equal([value for _, value in norm], run.series("layer_0/kernel").channels["norm"])


@pytest.mark.filterwarnings("ignore")
def test_wandb_reads_back_every_number(run: Run, tmp_path: Path) -> None:
    proto = pytest.importorskip("wandb.proto.wandb_internal_pb2", reason="wandb is not installed")

    path = export_wandb(run, tmp_path / "offline")

    (file,) = path.glob("*.wandb")
    records = [proto.Record.FromString(data) for data in _records(file.read_bytes())]
    history = [dict(_items(each.history)) for each in records if each.WhichOneof("record_type") == "history"]
    assert [line["step"] for line in history] == [*STEPS, 30]
    np.testing.assert_array_equal([line["loss"] for line in history[:-1]], run.scalars("adam").scalars["loss"].tolist())
    norms = [float(line["norm/layer_0/kernel"]) for line in history[:-1]]
    np.testing.assert_array_equal(norms, run.series("layer_0/kernel").channels["norm"])
    kind, bins, counts = (history[-1][f"histograms/weight/layer_1/kernel {key}"] for key in ("_type", "bins", "values"))
    assert kind == "histogram"
    assert sum(counts) == 500
    assert len(bins) == len(counts) + 1


def _records(data: bytes) -> Iterator[bytes]:
    """The records of a file of W&B: a log of LevelDB, pieces with 7 bytes before each, in blocks of 32 KiB."""
    place, whole = 7, b""  # after the file's own header
    while place + 7 <= len(data):
        if place % 32768 > 32768 - 7:
            place += 32768 - place % 32768
        length, kind = struct.unpack_from("<HB", data, place + 4)
        whole += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # all of it, or the last piece
            yield whole
            whole = b""


def _items(history: Any) -> list[tuple[str, Any]]:
    return [(" ".join(item.nested_key) or item.key, json.loads(item.value_json)) for item in history.item]


@pytest.mark.parametrize(("name", "export"), [("wandb", export_wandb), ("mlflow", export_mlflow)])
def test_without_the_package_it_is_a_sentence(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, export: Any
) -> None:
    monkeypatch.setitem(sys.modules, name, None)

    with pytest.raises(UsageError, match=f"the export needs {name}") as caught:
        export(run, tmp_path / "out")
    assert caught.value.help == f"pip install 'whygrad[{name}]'"
