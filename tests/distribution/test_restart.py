"""A worker that is killed while a window is half full, and the job that is started again from its last backup."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from distribution.cluster import Cluster

pytestmark = pytest.mark.tensorflow


@pytest.mark.slow
def test_a_job_that_was_killed_in_mid_window_ends_as_if_it_had_not_been(tmp_path: Path, tf_keras: Any) -> None:
    program, backup = str(Path(__file__).with_name("restarted.py")), tmp_path / "backup"
    with Cluster(tmp_path, {"worker": 2}) as cluster:
        for index in range(2):
            cluster.start("worker", index, program, "tf_keras", str(backup))
        cluster.await_line("worker", 1, "epoch 1 batch 2", limit=90)
        for index in (1, 0):  # the other one waits for it; a cluster's manager starts both again
            cluster.end("worker", index)
        for index in range(2):
            cluster.start("worker", index, program, "tf_keras", str(backup))
        ended = [cluster.wait("worker", index, 90) for index in range(2)]
    shutil.rmtree(backup, ignore_errors=True)

    for each in ended:
        assert each.status == 0, each.err[-2000:]
        assert each.out.startswith("epoch 1 batch 0\n")  # and not with the first epoch
        assert each.answer["apart"] <= 1e-6  # what each worker had summed is parted anew, so that rounding differs
        assert each.answer["updates"] == [3, 3]
        assert each.answer["waiting"] == [0, 0]
