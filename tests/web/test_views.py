"""What the page is told of recorded runs, without a server."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.samples import rows, spread, track
from whygrad.graph.series import CHANNELS
from whygrad.store import Rows, Run, RunWriter
from whygrad.web.export import run_page
from whygrad.web.library import Library
from whygrad.web.routes import answer
from whygrad.web.thinning import kept, thinned
from whygrad.web.views import heat as heat_view
from whygrad.web.views.curves import compare_view, variable_view
from whygrad.web.views.heat import heat
from whygrad.web.views.runs import run_view, runs_view


def recorded(
    folder: Path,
    steps: int = 100,
    variables: int = 3,
    name: str = "first",
    change: float = 1.0,
    histograms: tuple[int, ...] = (),
) -> Run:
    writer = RunWriter.start(folder, name=name)
    layout = track(variables)
    numbers = rows(layout, range(steps))
    number = writer.add_track(layout)
    writer.append(number, Rows(numbers.steps, numbers.scalars * change, np.abs(numbers.values)))
    for step in histograms:
        writer.add_histograms(number, step, spread(layout, step))
    writer.close()
    assert writer.path is not None
    return Run(writer.path)


@given(
    st.lists(st.floats(-1e6, 1e6) | st.just(float("nan")), min_size=1, max_size=400),
    st.integers(min_value=4, max_value=50),
)
def test_thinning_keeps_first_last_lowest_and_highest(values: list[float], points: int) -> None:
    numbers = np.array(values)
    index = kept(numbers, points)
    known = numbers[np.isfinite(numbers)]

    assert index[0] == 0
    assert index[-1] == len(values) - 1
    assert len(index) <= max(points, len(values) if len(values) <= points else 0) + 2
    assert (np.diff(index) > 0).all()
    if len(known):
        chosen = numbers[index]
        assert known.max() == np.nanmax(chosen)
        assert known.min() == np.nanmin(chosen)


def test_thinned_numbers_are_json_also_where_they_are_not_finite() -> None:
    found = thinned(np.arange(3), np.array([1.0, np.nan, np.inf]), 10)

    assert json.dumps(found, allow_nan=False) == '{"steps": [0, 1, 2], "values": [1.0, null, null]}'


def test_the_list_shows_what_cannot_be_read_beside_the_rest(tmp_path: Path) -> None:
    good = recorded(tmp_path)
    (tmp_path / "broken.sqlite").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    (tmp_path / "empty.sqlite").touch()

    found = {entry["id"]: entry for entry in runs_view(Library([tmp_path]))["runs"]}

    assert found[good.id]["steps"] == 100
    assert len(found[good.id]["trend"]) == 32
    assert "damaged" in found["broken"]["problem"] or "no run file" in found["broken"]["problem"]
    assert "is empty" in found["empty"]["problem"]


def test_a_run_without_findings_says_what_was_looked_at(tmp_path: Path) -> None:
    run = recorded(tmp_path)

    view = run_view(Library([tmp_path]), run)

    assert view["verdict"] == "no problem found in 100 steps, 3 variables"
    assert not view["has_why"]
    json.dumps(view, allow_nan=False)


def test_heat_has_the_highest_norm_of_each_stretch(tmp_path: Path) -> None:
    run = recorded(tmp_path)

    found = heat(run, "adam", columns=10)

    norms = run.series("layer_0/kernel").channels["norm"]
    assert found["columns"][0] == [1, 10]
    assert found["norms"][0][0] == pytest.approx(norms[:10].max(), rel=1e-5)
    assert len(found["variables"]) == 3


def test_heat_of_digests_and_of_all_steps_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = recorded(tmp_path, steps=9000)  # more than one block
    whole = heat(run, "adam", columns=600)
    monkeypatch.setattr(heat_view, "_READ_WHOLE", 0)

    drawn = heat(run, "adam", columns=600)

    assert len(drawn["columns"]) < len(whole["columns"])
    assert max(drawn["norms"][1]) == pytest.approx(max(whole["norms"][1]), rel=1e-4)


def test_not_finite_and_missing_are_told_apart(tmp_path: Path) -> None:
    writer = RunWriter.start(tmp_path)
    layout = track(2)
    numbers = rows(layout, range(4))
    values = np.abs(numbers.values)
    values[2, 0, CHANNELS.index("norm")] = np.nan
    values[2, 0, CHANNELS.index("nonfinite")] = 3
    writer.append(writer.add_track(layout), Rows(numbers.steps, numbers.scalars, values))
    writer.close()
    assert writer.path is not None
    run = Run(writer.path)

    assert heat(run, "adam")["nonfinite"] == [[0, 0, 1, 0], [0, 0, 0, 0]]
    view = variable_view(Library([tmp_path]), run, "layer_0/kernel", None, 100)
    assert view["nonfinite_steps"] == [3]
    json.dumps(view, allow_nan=False)


def test_compared_runs_are_marked_where_they_part(tmp_path: Path) -> None:
    one, two = recorded(tmp_path, name="one"), recorded(tmp_path, name="two", change=2.0)

    found = compare_view(Library([tmp_path]), [one.id, two.id], 100)

    assert found["pairs"][0]["entries"][0] | {"left": 0, "right": 0} == {
        "name": "loss",
        "step": 1,
        "channel": "loss",
        "steps": 100,
        "left": 0,
        "right": 0,
        "ratio": 0.5,
    }


def test_the_file_of_a_run_has_what_the_server_would_answer(tmp_path: Path) -> None:
    page = run_page(recorded(tmp_path))

    assert "heat?track=adam" in page
    assert "variable?name=layer_2/kernel\\u0026track=adam" in page


def test_histograms_are_buckets_in_order_by_kind_and_step(tmp_path: Path) -> None:
    run = recorded(tmp_path, histograms=(0, 50, 99))

    status, found = answer(Library([tmp_path]), f"runs/{run.id}/histograms", {"name": "layer_1/kernel", "most": "2"})

    assert status == 200
    assert found["steps"] == [0, 99]
    assert set(found["kinds"]) == {"gradient", "weight", "update"}
    for one in found["kinds"]["weight"]:
        assert sum(count for _, _, count in one["buckets"]) == 500
        assert one["buckets"] == sorted(one["buckets"])
        assert one["nonfinite"] == 0
    assert "histograms?name=layer_1/kernel" in run_page(run)
    json.dumps(found, allow_nan=False)


def test_a_large_run_is_drawn_at_once(tmp_path: Path) -> None:
    """A tenth of 1,000 variables x 100,000 steps; the digests make the rest cost nothing but more of them."""
    run = recorded(tmp_path, steps=2_000, variables=500)
    library = Library([tmp_path])
    start = time.process_time()

    status, found = answer(library, f"runs/{run.id}/heat", {})

    assert status == 200
    assert len(found["norms"]) == 500
    assert time.process_time() - start < 2
