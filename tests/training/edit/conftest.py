"""Small networks and the ways in which training code runs."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from training.edit.networks import dense

Loop = Callable[[Callable[[], Any]], Callable[[], Any]]


@pytest.fixture(params=["eager", "function", "xla"])
def compiled(request: pytest.FixtureRequest, tf: ModuleType) -> Loop:
    """Turns a step into what a user would call."""
    if request.param == "eager":
        return lambda step: step
    jit = request.param == "xla"

    def wrap(step: Callable[[], Any]) -> Callable[[], Any]:
        function: Callable[[], Any] = tf.function(step, jit_compile=jit)
        return function

    return wrap


@pytest.fixture(params=["keras", "tf_keras"])
def any_keras(request: pytest.FixtureRequest) -> ModuleType:
    module: ModuleType = request.getfixturevalue(request.param)
    module.utils.set_random_seed(7)
    return module


@pytest.fixture
def network(any_keras: ModuleType) -> Any:
    return dense(any_keras)


@pytest.fixture
def batch() -> tuple[Any, Any]:
    random = np.random.default_rng(3)
    return random.normal(size=(8, 3)).astype("float32"), random.normal(size=(8, 1)).astype("float32")
