"""Small models and data for the tests of `Monitor`, the same each time they are made, in either Keras."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

X = np.random.default_rng(0).normal(size=(40, 6)).astype("float32")
Y = np.random.default_rng(1).integers(0, 3, 40)


def dense(keras: ModuleType, optimizer: Any, **compile_options: Any) -> Any:
    """Three layers, one with dropout after it."""
    keras.utils.set_random_seed(7)
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((6,)),
            layers.Dense(8, activation="relu"),
            layers.Dropout(0.2),
            layers.Dense(8, activation="tanh"),
            layers.Dense(3),
        ]
    )
    return compiled(keras, model, optimizer, **compile_options)


def compiled(keras: ModuleType, model: Any, optimizer: Any, **options: Any) -> Any:
    options.setdefault("jit_compile", False)
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True), **options)
    return model


def train(model: Any, *, epochs: int = 2, batch: int = 8, callbacks: Any = (), x: Any = X, y: Any = Y) -> None:
    model.fit(x, y, batch_size=batch, epochs=epochs, verbose=0, shuffle=False, callbacks=list(callbacks))


def state(model: Any, *optimizers: Any) -> list[bytes]:
    """Every bit that a model and its optimizers hold."""
    variables = list(model.variables)
    for optimizer in optimizers or (model.optimizer,):
        held = optimizer.variables
        variables += held() if callable(held) else held
    return [variable.numpy().tobytes() for variable in variables]
