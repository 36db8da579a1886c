"""MultiWorkerMirroredStrategy: three real processes on loopback, each with a run of its own."""

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
def answers(runs: Path, tf_keras: Any) -> list[Any]:
    program = str(Path(__file__).with_name("three_workers.py"))
    ended = run_all(runs, {"worker": 3}, [program, "tf_keras", str(runs)], limit=240)
    assert [each.status for each in ended] == [0, 0, 0], "".join(each.err[-2000:] for each in ended)
    return [each.answer for each in ended]


@pytest.fixture(scope="module")
def recorded(answers: list[Any]) -> list[Any]:
    return [answer["recorded"] for answer in answers]


@pytest.mark.slow
def test_monitor_and_guard_leave_a_healthy_training_as_it_is(recorded: list[Any]) -> None:
    assert all(each["bits kept"] for each in recorded)


@pytest.mark.slow
def test_accumulated_training_is_that_of_the_big_batch(recorded: list[Any]) -> None:
    assert all(each["accumulated"] <= 1e-5 for each in recorded)


@pytest.mark.slow
def test_workers_record_the_same_gradient_and_their_own_loss(recorded: list[Any]) -> None:
    one, two, three = recorded

    assert one["norms"] == two["norms"] == three["norms"]
    assert len({tuple(each["losses"]) for each in recorded}) == 3
    assert [each["worker"]["name"] for each in recorded] == ["worker 0", "worker 1", "worker 2"]


@pytest.mark.slow
def test_the_worker_that_is_not_finite_is_named_and_all_hold_back(recorded: list[Any]) -> None:
    one, two, three = recorded

    assert one["named"] == three["named"] == []
    assert two["named"] == [[1, {"replicas": [1], "of": 1, "worker": "worker 1"}]]
    assert all(each["held back"] == [[2, [1]]] for each in recorded)
    assert all(each["finite"] for each in recorded)


@pytest.mark.slow
def test_edits_leave_the_same_bits_on_every_worker_also_where_each_would_decide_otherwise(answers: list[Any]) -> None:
    one, two, three = (answer["edited"] for answer in answers)

    assert one["weights"] == two["weights"] == three["weights"]
    assert one["averages"] == two["averages"] == three["averages"]
    assert one["resets"] == two["resets"] == three["resets"] == 1
    assert one["changed"] == two["changed"] == three["changed"]
    assert one["largest"] <= 0.3 + 1e-6


@pytest.mark.slow
def test_what_one_worker_rolls_back_all_roll_back(answers: list[Any]) -> None:
    edited = [answer["edited"] for answer in answers]

    assert all(each["put back"] for each in edited)
    other = "another worker rolled back"
    assert [each["reason"] for each in edited] == [other, "a checked value is not finite", other]


@pytest.mark.slow
def test_the_worker_that_makes_a_nan_names_the_line_and_the_others_that_it_is_not_theirs(answers: list[Any]) -> None:
    one, two, three = (answer["watched"] for answer in answers)

    assert all(each["bits kept"] and each["healthy"] == [] for each in (one, two, three))
    assert two["broken"] == [
        [
            "nan-log",
            "likely `tf.math.log(y)` takes the logarithm of a negative number",
            "return tf.reduce_mean((tf.math.log(y) - prediction) ** 2)",
        ]
    ]
    for each in (one, three):
        ((rule, why, _),) = each["broken"]
        assert rule == "nan-unplaced"
        assert "this worker computes" in why
        assert "the others" in why


@pytest.mark.slow
def test_show_puts_the_workers_side_by_side(answers: list[Any], runs: Path) -> None:
    told = CliRunner().invoke(show, ["latest", "--dir", str(runs)]).output

    assert [line.split()[:2] for line in told.splitlines() if line.startswith("worker ")] == [
        ["worker", "run"],
        ["worker", "0"],
        ["worker", "1"],
        ["worker", "2"],
    ]
    assert "the gradients of replica 1 (worker 1) were not finite at step 1" in told
