"""Everything of whygrad under MirroredStrategy, on two logical CPUs, with `fit` and with `strategy.run`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import versions

pytestmark = pytest.mark.tensorflow

SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(SOURCE), environment.get("PYTHONPATH", "")])
    words = [str(Path(__file__).with_name("mirrored.py")), "keras", str(tmp_path_factory.mktemp("runs"))]
    done = subprocess.run(
        [sys.executable, *words], env=environment, capture_output=True, text=True, timeout=420, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


@pytest.mark.slow
def test_a_healthy_training_is_left_as_it_is_and_nothing_is_said_of_it(found: dict[str, Any]) -> None:
    assert found["fitting"]["bits kept"]
    assert found["fitting"]["said"] == []
    assert found["fitting"]["updates"] == 4  # and not for each replica


@versions.without_oldest_keras
@pytest.mark.slow
def test_the_numbers_are_those_of_the_summed_gradient_and_on_request_of_each_replica(found: dict[str, Any]) -> None:
    numbers = found["fitting"]

    assert numbers["steps"] == [0, 1, 2, 3]
    assert numbers["tracks"] == ["", " replica 0", " replica 1"]
    assert numbers["loss of all"] < 1e-5
    assert numbers["sum of all"] < 1e-5
    assert numbers["first update"] < 1e-7


@pytest.mark.slow
def test_a_bad_example_of_one_replica_holds_back_the_update_of_both(found: dict[str, Any]) -> None:
    guarded = found["guarding"]

    assert guarded["skipped"]
    assert guarded["rolled back"]


@pytest.mark.slow
def test_the_replica_that_alone_is_not_finite_is_named(found: dict[str, Any]) -> None:
    guarded = found["guarding"]

    assert guarded["step"] == [2, [1]]
    assert guarded["report"] == "replica 1 of 2"
    assert guarded["named"] == [[1, [1]]]  # Monitor counts steps from 0


@versions.without_oldest_keras
@pytest.mark.slow
def test_accumulated_loops_make_the_update_of_the_big_batch(found: dict[str, Any]) -> None:
    assert found["looping"]["wrapped"] <= 1e-5
    assert found["looping"]["added"] <= 1e-5


@pytest.mark.slow
def test_replicas_sum_once_for_an_update_and_not_for_a_micro_batch(found: dict[str, Any]) -> None:
    reductions = found["looping"]["reductions"]
    always, _ = reductions["bare"]  # one for each device

    assert reductions["wrapped"] == [0, always + 2]  # in the branch of a full window: gradients, and what they weigh
    assert reductions["added"] == [0, 0]


@versions.without_oldest_keras
@pytest.mark.slow
def test_repeated_rows_of_several_replicas_are_summed_before_they_are_squared(found: dict[str, Any]) -> None:
    assert found["sparse"] <= 1e-6


@pytest.mark.slow
def test_watching_finds_what_is_broken_once_and_nothing_else(found: dict[str, Any]) -> None:
    said = found["watched"]

    assert said["plain"] == []
    assert said["bits kept"]
    assert said["stopped"] == [["stop-gradient", STOPPED]]
    assert said["outside"] == [["outside-tape", "early = model(x)"]]
    assert said["updates"] == 4


@pytest.mark.slow
def test_the_line_of_a_nan_is_found_and_the_replica_that_is_bad_alone(found: dict[str, Any]) -> None:
    said = found["watched"]

    assert said["not a number"] == [["nan-log", LOGGED]]  # of both replicas
    ((rule, *notes),) = said["data"]
    assert rule == "nan-data"
    assert "bad: row 3, feature 1, counted from 1" in notes
    assert "on replica 1 alone, in its part of the batch" in notes


@versions.without_oldest_keras
@pytest.mark.slow
def test_gradients_that_xla_compiles_are_left_as_they_are_and_their_nan_is_found(found: dict[str, Any]) -> None:
    jitted = found["jitted"]

    assert jitted["bits kept"]
    assert jitted["accumulated"] <= 1e-5
    assert jitted["said"] == [[], ["nan-log"]]


LOGGED = 'middle = tf.math.log(middle - 5.0) if forward == "not a number" else middle'
STOPPED = 'middle = tf.stop_gradient(hidden(x)) if forward == "stopped" else hidden(x)'
