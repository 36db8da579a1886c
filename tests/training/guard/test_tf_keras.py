"""The guard around an optimizer of tf_keras."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import whygrad as wg
from whygrad.errors import NonfiniteError

pytestmark = pytest.mark.tensorflow


def fitted(tf_keras: Any, rows: Any, *, guarded: bool, **settings: Any) -> tuple[list[Any], Any]:
    tf_keras.utils.set_random_seed(0)
    model = tf_keras.Sequential(
        [tf_keras.layers.Dense(4, input_shape=(2,)), tf_keras.layers.BatchNormalization(), tf_keras.layers.Dense(1)]
    )
    inner = tf_keras.optimizers.Adam(0.01)
    optimizer = wg.guard(inner, **settings) if guarded else inner
    model.compile(optimizer, "mse")
    model.fit(rows, rows[:, :1], batch_size=8, shuffle=False, verbose=0)
    return [np.asarray(weight) for weight in model.get_weights()], optimizer


def test_skipping_a_bad_batch_is_never_having_seen_it(tf_keras: Any) -> None:
    rows = np.random.default_rng(0).normal(size=(40, 2)).astype("float32")
    healthy = np.delete(rows, np.s_[16:24], axis=0)
    rows[17] = np.nan

    expected, _ = fitted(tf_keras, healthy, guarded=False)
    weights, optimizer = fitted(tf_keras, rows, guarded=True)

    assert [each.step for each in optimizer.bad_steps] == [3]
    for one, other in zip(expected, weights, strict=True):
        np.testing.assert_array_equal(one, other)


def test_training_stops(tf_keras: Any) -> None:
    rows = np.ones((40, 2), "float32")
    rows[16:] = np.nan

    with pytest.raises(NonfiniteError, match="step 4"):
        fitted(tf_keras, rows, guarded=True, patience=2)
