"""Small models and data for the tests of `Monitor`, the same each time they are made, in either Keras."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

X = np.random.default_rng(0).normal(size=(40, 6)).astype("float32")
Y = np.random.default_rng(1).integers(0, 3, 40)
IMAGES = np.random.default_rng(2).normal(size=(40, 8, 8, 3)).astype("float32")
WORDS = np.random.default_rng(3).integers(0, 20, (40, 5))


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


def convolutional(keras: ModuleType, optimizer: Any, **options: Any) -> Any:
    keras.utils.set_random_seed(7)
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((8, 8, 3)),
            layers.Conv2D(8, 3, padding="same"),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.MaxPooling2D(),
            layers.Conv2D(16, 3, activation="relu", kernel_regularizer="l2"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(3),
        ]
    )
    return compiled(keras, model, optimizer, **options)


def attending(keras: ModuleType, optimizer: Any, **options: Any) -> Any:
    """Embeddings, attention, normalisation, and a table that is used twice."""
    keras.utils.set_random_seed(7)
    layers = keras.layers
    entry = keras.Input((5,), dtype="int32")
    table = layers.Embedding(20, 8)
    x = table(entry) + keras.ops.flip(table(entry), 1)
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 4)(x, x))
    x = layers.Dense(8, activation="gelu")(x)
    return compiled(keras, keras.Model(entry, layers.Dense(3)(layers.Flatten()(x))), optimizer, **options)


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
