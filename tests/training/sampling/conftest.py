"""The package under test, and the three ways TensorFlow runs a function."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

Compile = Callable[[Callable[..., Any]], Callable[..., Any]]


@pytest.fixture(scope="session")
def sampling(tf: ModuleType) -> ModuleType:
    return importlib.import_module("whygrad.training.sampling")


@pytest.fixture(params=["eager", "function", "jit"])
def compiled(request: pytest.FixtureRequest, tf: ModuleType) -> Compile:
    """Turns a function into one that runs eagerly, traced, or compiled by XLA."""
    if request.param == "eager":
        return lambda function: function
    return lambda function: tf.function(function, jit_compile=request.param == "jit")


@pytest.fixture
def gradient(tf: ModuleType) -> Callable[..., Any]:
    """The gradient of the sum of a function's result, with respect to its first argument."""

    def of(function: Callable[..., Any], x: Any) -> Any:
        x = tf.convert_to_tensor(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.reduce_sum(tf.cast(function(x), tf.float64))
        return tape.gradient(total, x)

    return of
