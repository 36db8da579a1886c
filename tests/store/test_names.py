"""Which run a name stands for."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from whygrad.store import RunNotFoundError, RunWriter, find_run, folder, list_runs, run_file
from whygrad.store.run_file import new_id


@pytest.fixture
def three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    names = iter(["calm-fox-11", "calm-owl-22", "wise-yak-33"])
    monkeypatch.setattr(run_file, "new_id", lambda: next(names))
    for started in (100.0, 300.0, 200.0):
        RunWriter.start(tmp_path, facts={"started": started}).close()
    return tmp_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("calm-fox-11", "calm-fox-11"),
        ("calm-f", "calm-fox-11"),
        ("w", "wise-yak-33"),
        ("latest", "calm-owl-22"),
    ],
)
def test_any_beginning_that_fits_one_run_names_it(three: Path, text: str, expected: str) -> None:
    assert find_run(text, three).id == expected


def test_the_path_of_a_file_names_it(three: Path) -> None:
    assert find_run(str(three / "calm-fox-11.sqlite")).facts()["id"] == "calm-fox-11"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("calm", "`calm` fits 2 runs: `calm-owl-22`, `calm-fox-11`\nhelp: write more letters of the one you mean"),
        ("clam-fox-11", "no run is called `clam-fox-11`\nhelp: did you mean `calm-fox-11`? `whygrad runs` lists them"),
        ("xyz", "no run is called `xyz`\nhelp: `whygrad runs` lists them"),
        ("no/such.sqlite", "there is no run file `no/such.sqlite`"),
    ],
)
def test_any_other_text_gets_a_sentence(three: Path, text: str, message: str) -> None:
    with pytest.raises(RunNotFoundError) as caught:
        find_run(text, three)

    assert str(caught.value) == message


def test_a_folder_without_runs_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(RunNotFoundError, match="there are no runs in"):
        find_run("latest", tmp_path / "nothing")


def test_runs_are_listed_newest_first(three: Path) -> None:
    assert [run.id for run in list_runs(three)] == ["calm-owl-22", "wise-yak-33", "calm-fox-11"]


def test_runs_that_start_at_the_same_moment_get_files_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = ["a-a-1", "a-a-1", "a-a-1", "b-b-2", "a-a-1", "b-b-2", "c-c-3", "a-a-1", "c-c-3", "d-d-4"]
    lock, names = threading.Lock(), iter(few)

    def draw() -> str:
        with lock:
            return next(names)

    monkeypatch.setattr(run_file, "new_id", draw)
    writers: list[RunWriter] = []
    threads = [threading.Thread(target=lambda: writers.append(RunWriter.start(tmp_path))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for writer in writers:
        writer.close()

    assert sorted(writer.id for writer in writers) == ["a-a-1", "b-b-2", "c-c-3", "d-d-4"]
    assert sorted(run.id for run in list_runs(tmp_path)) == ["a-a-1", "b-b-2", "c-c-3", "d-d-4"]


def test_ids_are_readable_and_leave_the_random_numbers_alone() -> None:
    import random

    import numpy as np

    random.seed(1)
    np.random.seed(1)
    states = random.getstate(), np.random.get_state()[1].tolist()
    ids = {new_id() for _ in range(200)}

    assert len(ids) > 190
    assert all(len(name.split("-")) == 3 and len(name) <= 20 and name != folder.LATEST for name in ids)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == states


def test_the_folder_can_be_named_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYGRAD_DIR", str(tmp_path / "elsewhere"))
    RunWriter.start().close()

    assert len(list_runs()) == 1
    assert (tmp_path / "elsewhere").is_dir()
