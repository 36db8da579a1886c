from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from backends.tensorflow.keras_pair import Kit


@pytest.fixture(params=["keras", "tf_keras"])
def kit(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Keras 3, then tf_keras, both working in float64."""
    kit = Kit(request.getfixturevalue(request.param), old=request.param == "tf_keras")
    before = kit.keras.backend.floatx()
    kit.keras.backend.set_floatx("float64")
    yield kit
    kit.keras.backend.set_floatx(before)
