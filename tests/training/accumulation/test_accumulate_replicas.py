"""`accumulate` under MirroredStrategy, on one and on two logical CPUs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import versions
from whygrad.errors import AccumulationError

pytestmark = pytest.mark.tensorflow


@versions.without_oldest_keras
@pytest.mark.slow
def test_replicas_together_make_the_big_batchs_update(tf_keras: Any) -> None:
    program = Path(__file__).with_name("two_replicas.py")

    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert [len(differences) for differences in found.values()] == [5, 5]  # Keras 3 and tf_keras
    assert all(apart <= 1e-5 for differences in found.values() for apart in differences.values()), found


def test_an_optimizer_made_outside_of_the_scope_says_so(tf: Any, keras: Any) -> None:
    from whygrad.training.accumulation.accumulate import accumulate

    v = tf.Variable([1.0])
    optimizer = accumulate(keras.optimizers.SGD(), 2, weight="equal")
    optimizer.build([v])
    optimizer.window.replicas = 2  # as if it had been built under a strategy with two

    with pytest.raises(AccumulationError) as caught:
        optimizer.apply_gradients([(tf.ones([1]), v)])

    assert str(caught.value) == (
        "the optimizer was made for 2 replicas and runs on 1\n"
        "help: call wg.accumulate and build the model inside `with strategy.scope():`"
    )
