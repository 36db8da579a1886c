"""A watched training step that uses an estimator gets no error, no warning and the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import whygrad
from training.sampling.test_everywhere import ESTIMATORS, X
from whygrad.diagnostics import Severity

pytestmark = pytest.mark.tensorflow


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("mode", ["eager", "function"])
def test_a_watched_step_is_quiet_and_undisturbed(tf: ModuleType, sampling: ModuleType, name: str, mode: str) -> None:
    def step(variable: Any) -> Any:
        with tf.GradientTape() as tape:
            drawn = ESTIMATORS[name](tf, sampling, tf.nn.softplus(variable), (3, 5))
            weights = tf.cast(tf.reshape(tf.range(1, tf.size(drawn) + 1), tf.shape(drawn)), tf.float32)
            loss = tf.reduce_sum(weights * drawn)
        return tape.gradient(loss, variable)

    def run(keep: Callable[[Any], None]) -> None:
        variable = tf.Variable(X, dtype=tf.float32)
        keep((step if mode == "eager" else tf.function(step))(variable).numpy())

    unwatched: list[Any] = []
    watched: list[Any] = []
    run(unwatched.append)
    report = whygrad.explain(run, watched.append)

    assert [str(d.message) for d in report.diagnostics if d.severity >= Severity.WARNING] == []
    assert np.array_equal(watched[0], unwatched[0])
