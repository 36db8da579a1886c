"""MultiWorkerMirroredStrategy: two real processes on loopback, each with a run of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from distribution.cluster import run_all
from whygrad.cli.recorded.show import command as show

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def answers(runs: Path) -> list[Any]:
    program = str(Path(__file__).with_name("two_workers.py"))
    ended = run_all(runs, {"worker": 2}, [program, "tf_keras", str(runs)])
    assert [each.status for each in ended] == [0, 0], ended[0].err[-2000:] + ended[1].err[-2000:]
    return [each.answer for each in ended]


@pytest.mark.slow
def test_monitor_and_guard_leave_a_healthy_training_as_it_is(answers: list[Any]) -> None:
    assert all(answer["bits kept"] for answer in answers)


@pytest.mark.slow
def test_accumulated_training_is_that_of_the_big_batch(answers: list[Any]) -> None:
    assert all(answer["accumulated"] <= 1e-5 for answer in answers)


@pytest.mark.slow
def test_workers_record_the_same_gradient_and_their_own_loss(answers: list[Any]) -> None:
    one, two = answers

    assert one["norms"] == two["norms"]
    assert one["losses"] != two["losses"]
    assert [answer["worker"]["name"] for answer in answers] == ["worker 0", "worker 1"]


@pytest.mark.slow
def test_the_worker_that_is_not_finite_is_named_and_all_hold_back(answers: list[Any]) -> None:
    one, two = answers

    assert one["named"] == []
    assert two["named"] == [[1, {"replicas": [1], "of": 1, "worker": "worker 1"}]]
    assert one["held back"] == two["held back"] == [[2, [1]]]
    assert one["finite"]
    assert two["finite"]


@pytest.mark.slow
def test_show_puts_the_workers_side_by_side(answers: list[Any], runs: Path) -> None:
    told = CliRunner().invoke(show, ["latest", "--dir", str(runs)]).output

    assert [line.split()[:2] for line in told.splitlines() if line.startswith("worker ")] == [
        ["worker", "run"],
        ["worker", "0"],
        ["worker", "1"],
    ]
    assert "the gradients of replica 1 (worker 1) were not finite at step 1" in told
