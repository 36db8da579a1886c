"""Histograms are kept with a run, read one variable at a time, and older runs are read without them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from store.samples import rows, spread, track
from whygrad.graph.histogram import KINDS, WIDTH
from whygrad.store import Run, RunNotFoundError, RunWriter, run_file, writer

TRACK = track(3)


def recorded(folder: Path, steps: range = range(0, 50, 10)) -> Run:
    made = RunWriter.start(folder)
    number = made.add_track(TRACK)
    made.append(number, rows(TRACK, range(50)))
    for step in steps:
        values = spread(TRACK, step)
        values[2] = np.nan  # its gradient is missing
        made.add_histograms(number, step, values)
    made.close()
    assert made.path is not None
    return Run(made.path)


def test_one_variable_is_read_back_at_every_step(tmp_path: Path) -> None:
    found = recorded(tmp_path).histograms("layer_1/kernel")

    assert (found.track, found.size, found.steps.tolist()) == ("adam", 8, [0, 10, 20, 30, 40])
    for step, values in zip(found.steps, found.values, strict=True):
        np.testing.assert_array_equal(values, spread(TRACK, int(step))[1])


def test_so_many_steps_are_spread_evenly(tmp_path: Path) -> None:
    assert recorded(tmp_path).histograms("layer_0/kernel", most=3).steps.tolist() == [0, 20, 40]


def test_a_variable_without_any_has_unknown_numbers(tmp_path: Path) -> None:
    assert np.isnan(recorded(tmp_path).histograms("layer_2/kernel").values).all()


def test_a_run_without_any_has_no_steps(tmp_path: Path) -> None:
    found = recorded(tmp_path, range(0)).histograms("layer_0/kernel")

    assert found.values.shape == (0, len(KINDS), WIDTH)


def test_a_variable_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(RunNotFoundError, match="has no variable `other`"):
        recorded(tmp_path).histograms("other")


def test_a_damaged_one_leaves_the_others(tmp_path: Path) -> None:
    run = recorded(tmp_path)
    with sqlite3.connect(run.path) as database:
        database.execute("UPDATE histogram SET data = zeroblob(200) || X'01' WHERE step = 20")
        database.execute("UPDATE histogram SET data = X'00' WHERE step = 30")

    assert run.histograms("layer_0/kernel").steps.tolist() in ([0, 10, 40], [0, 10, 20, 40])
    assert run.damage


def test_they_are_left_out_where_the_disk_does_not_keep_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_MOST_WAITING", 0)

    assert recorded(tmp_path).histograms("layer_0/kernel").steps.tolist() == []


def test_a_run_of_the_format_before_is_read_in_place(tmp_path: Path) -> None:
    run = recorded(tmp_path)
    with sqlite3.connect(run.path) as database:
        database.execute("DROP TABLE histogram")
        database.execute("PRAGMA user_version = 3")
    before = run.path.read_bytes()

    with run_file.open_to_read(run.path) as database:
        assert database.execute("PRAGMA database_list").fetchone()[2] == str(run.path)  # no copy was made
    assert run.histograms("layer_0/kernel").steps.tolist() == []
    assert run.series("layer_0/kernel").steps.tolist() == list(range(50))
    assert run.path.read_bytes() == before


def test_a_run_of_the_format_before_is_carried_on_with_histograms(tmp_path: Path) -> None:
    run = recorded(tmp_path, range(0))
    with sqlite3.connect(run.path) as database:
        database.execute("DROP TABLE histogram")
        database.execute("PRAGMA user_version = 3")

    again = RunWriter.resume(run.path)
    again.add_histograms(1, 60, spread(TRACK, 60))
    again.close()

    assert run.histograms("layer_0/kernel").steps.tolist() == [60]
