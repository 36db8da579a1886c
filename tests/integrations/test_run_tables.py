"""CSV and Parquet hold the numbers of the run."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from store.samples import rows, track
from whygrad.graph.series import CHANNELS
from whygrad.integrations.tables import export_csv, export_parquet
from whygrad.store import Run, RunWriter, compaction

TRACKS = (track(3, "generator"), track(2, "critic"))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(compaction, "rows_in_block", lambda track: 20)
    writer = RunWriter.start(tmp_path / "runs")
    for each in TRACKS:
        number = writer.add_track(each)
        for start in range(0, 50, 10):
            writer.append(number, rows(each, range(start, start + 10)))
            writer.flush()
    writer.flush()  # still open: blocks and a tail
    assert writer.path is not None
    return Run(writer.path)


def test_csv_holds_every_number(run: Run, tmp_path: Path) -> None:
    scalars, variables = export_csv(run, tmp_path / "out")

    with scalars.open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 100
    assert [float(line["loss"]) for line in lines if line["track"] == "critic"] == pytest.approx(
        rows(TRACKS[1], range(50)).scalars[:, 0].tolist(), abs=0
    )
    with variables.open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 50 * 5
    found = [
        [np.float32(line[channel]) for channel in CHANNELS]
        for line in lines
        if line["track"] == "generator" and line["variable"] == "layer_2/kernel"
    ]
    assert np.array(found).tobytes() == np.ascontiguousarray(rows(TRACKS[0], range(50)).values[:, 2]).tobytes()


def test_parquet_holds_every_number(run: Run, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")

    scalars, variables = (parquet.read_table(path) for path in export_parquet(run, tmp_path / "out"))

    assert scalars.num_rows == 100
    assert variables.num_rows == 250
    table = variables.to_pydict()
    picked = [i for i in range(250) if table["track"][i] == "critic" and table["variable"][i] == "layer_1/kernel"]
    assert [table["step"][i] for i in picked] == list(range(50))
    assert [table["norm"][i] for i in picked] == rows(TRACKS[1], range(50)).values[:, 1, 1].tolist()
