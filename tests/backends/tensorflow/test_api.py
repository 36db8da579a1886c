"""What lint says is gone is gone in the installed versions, and what it advises to write is there."""

from __future__ import annotations

from typing import Any

import pytest

from whygrad.backends.api import Role
from whygrad.backends.tensorflow.api import API

pytestmark = pytest.mark.tensorflow


def has(root: Any, dotted: str) -> bool:
    for name in dotted.split(".")[1:]:
        root = getattr(root, name, None)
        if root is None:
            return False
    return True


def test_names_that_are_gone_are_not_there(tf: Any, keras: Any) -> None:
    roots = {"tf": (tf,), "keras": (keras, tf.keras)}
    there = [
        name
        for name in API.gone
        for root in (roots[name.split(".")[0]] if not name.startswith("keras.backend") else (keras,))
        if has(root, name)
    ]

    assert there == []


def test_names_to_write_instead_are_there(tf: Any, keras: Any) -> None:
    roots = {"tf": tf, "keras": keras}
    names = {gone.rename for gone in API.gone.values() if gone.rename is not None}

    assert [name for name in sorted(names) if not has(roots[name.split(".")[0]], name)] == []


def test_methods_that_are_gone_are_not_there(tf: Any, keras: Any) -> None:
    scaled = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD())
    made = {Role.OPTIMIZER: scaled, Role.METRIC: keras.metrics.Mean(), Role.NETWORK: keras.Sequential()}
    still = {"add_loss"}  # there, but raises for symbolic tensors

    assert [name for role, name in API.gone_methods if hasattr(made[role], name) and name not in still] == []
