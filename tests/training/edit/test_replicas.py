from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import versions

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    script = Path(__file__).with_name("two_replicas.py")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    source = str(Path(__file__).parents[3] / "src")
    environment["PYTHONPATH"] = os.pathsep.join([source, environment.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def by_hand() -> dict[str, np.ndarray[Any, Any]]:
    """The same three steps in NumPy: the gradients of two replicas are added up, and each edit acts once."""
    w, held, average, target = np.array([4.0, -4.0]), np.array([1.0]), np.array([4.0, -4.0]), np.zeros(2)
    momentum, momentum_held = np.zeros(2), np.zeros(1)
    for step in range(1, 4):
        momentum = 0.9 * momentum - 0.5 * 2 * np.array([1.0, -1.0])
        w = w + momentum
        if step == 1:
            momentum_held = 0.9 * momentum_held - 0.5 * 2 * np.array([1.0])
            held = held + momentum_held
        average = 0.5 * average + 0.5 * w
        target = w.copy()
        w = np.clip(w, -3.0, 3.0)
    return {"w": w, "held": held, "average": average, "target": target, "rate": np.array([0.75])}


@versions.without_oldest_keras
def test_edits_act_once_for_all_replicas(found: dict[str, Any]) -> None:
    for name, value in by_hand().items():
        for copy in found[name]:
            np.testing.assert_allclose(copy, value, rtol=1e-4, err_msg=name)
        assert len(found[name]) == 2, name
    assert found["steps"] == 3


def test_a_transaction_restores_the_copies_of_every_device(found: dict[str, Any]) -> None:
    assert found["restored"]


def test_a_transaction_that_each_replica_would_decide_for_itself_is_refused(found: dict[str, Any]) -> None:
    assert "inside a replica" in found["refused"]
