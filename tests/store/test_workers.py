"""Runs of the workers of a cluster: each has a file of its own, and readers find those that belong together."""

from __future__ import annotations

from pathlib import Path

from whygrad.store import Run, RunWriter, header_of, workers_of


def recorded(folder: Path, index: int, cluster: str = "abc", started: float = 1000.0) -> Run:
    worker = {"name": f"worker {index}", "index": index, "count": 2, "cluster": cluster}
    writer = RunWriter.start(folder, name="vae", facts={"worker": worker, "started": started})
    writer.close("finished")
    assert writer.path is not None
    return Run(writer.path)


def test_the_name_of_a_run_says_which_worker_it_is_of(tmp_path: Path) -> None:
    assert header_of(recorded(tmp_path, 1)).title == "vae (worker 1)"


def test_workers_that_began_together_belong_together(tmp_path: Path) -> None:
    earlier = [recorded(tmp_path, 0, started=1000.0), recorded(tmp_path, 1, started=1003.0)]
    stranger = recorded(tmp_path, 1, cluster="xyz", started=1001.0)
    later = [recorded(tmp_path, 1, started=1060.0), recorded(tmp_path, 0, started=1062.0)]

    for job in (earlier, later):
        for run in job:
            assert {each.id for each in workers_of(run)} == {each.id for each in job}
    assert [each.id for each in workers_of(later[0])] == [later[1].id, later[0].id]  # in the order of their numbers
    assert [each.id for each in workers_of(stranger)] == [stranger.id]


def test_a_run_that_trained_alone_has_no_workers(tmp_path: Path) -> None:
    writer = RunWriter.start(tmp_path)
    writer.close("finished")
    assert writer.path is not None

    assert workers_of(Run(writer.path)) == []
