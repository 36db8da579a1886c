"""`Monitor(guard=...)`, and a guard or an accumulating optimizer under a Monitor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from whygrad.errors import NonfiniteError

pytestmark = pytest.mark.tensorflow


def rows(*, poisoned: bool) -> Any:
    made = np.random.default_rng(0).normal(size=(40, 4)).astype("float32")
    if poisoned:
        made[17] = np.nan
        return made
    return np.delete(made, np.s_[16:24], axis=0)


def make_model(keras: Any, optimizer: Any, *, jit_compile: bool) -> Any:
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(5), keras.layers.Dense(1)])
    model.compile(optimizer, "mse", jit_compile=jit_compile)
    return model


@pytest.mark.parametrize("jit_compile", [False, True])
def test_a_monitor_holds_back_what_is_not_finite(jit_compile: bool, keras: Any, tmp_path: Path, capsys: Any) -> None:
    bare = make_model(keras, keras.optimizers.Adam(0.01), jit_compile=jit_compile)
    healthy = rows(poisoned=False)
    bare.fit(healthy, healthy[:, :1], batch_size=8, shuffle=False, verbose=0)
    optimizer = keras.optimizers.Adam(0.01)
    model = make_model(keras, optimizer, jit_compile=jit_compile)
    monitor = wg.Monitor(folder=tmp_path, guard="skip")
    data = rows(poisoned=True)
    model.fit(data, data[:, :1], batch_size=8, shuffle=False, verbose=0, callbacks=[monitor])

    for one, other in zip(bare.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert model.optimizer is optimizer
    assert "1 of 5 steps had gradients that are not finite" in capsys.readouterr().err
    assert monitor.run is not None
    held = [event for event in monitor.run.events() if event.kind == "held back"]
    assert [event.step for event in held] == [2]


def test_a_monitor_ends_training_that_stays_bad(keras: Any, tmp_path: Path) -> None:
    model = make_model(keras, "sgd", jit_compile=False)
    data = np.full((40, 4), np.nan, "float32")

    monitor = wg.Monitor(folder=tmp_path, guard="skip", patience=2)

    with pytest.raises(NonfiniteError):
        model.fit(data, data[:, :1], batch_size=8, verbose=0, callbacks=[monitor])


@pytest.mark.parametrize("wrapper", ["guard", "accumulate"])
def test_a_wrapped_optimizer_may_be_monitored_again_and_again(wrapper: str, keras: Any, tmp_path: Path) -> None:
    data = rows(poisoned=False)
    options = {"steps": 2} if wrapper == "accumulate" else {}
    optimizer = getattr(wg, wrapper)(keras.optimizers.SGD(0.01), **options)
    model = make_model(keras, optimizer, jit_compile=False)
    monitor = wg.Monitor(folder=tmp_path)
    for callbacks in ([monitor], [], [monitor], []):
        model.fit(data, data[:, :1], batch_size=8, verbose=0, callbacks=callbacks)

    assert all(np.isfinite(weight).all() for weight in model.get_weights())
