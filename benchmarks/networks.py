"""The models that recording is measured on, the same each time they are made."""

from __future__ import annotations

from typing import Any

import numpy as np


def make(name: str, *, jit: bool, model_class: Any = None) -> tuple[Any, tuple[Any, Any]]:
    """A compiled model and one batch."""
    import keras

    keras.utils.set_random_seed(1)
    entry, exit_, batch = NETWORKS[name](keras.layers, keras)
    model = (model_class or keras.Model)(entry, exit_)
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=jit)
    return model, batch


def mlp(layers: Any, keras: Any) -> tuple[Any, Any, Any]:
    """784-512-512-10 on 128 examples: as many weights as there is arithmetic to hide their reading behind, or more."""
    rng = np.random.default_rng(0)
    entry = keras.Input((784,))
    x = layers.Dense(512, activation="relu")(entry)
    x = layers.Dense(512, activation="relu")(x)
    return entry, layers.Dense(10)(x), (rng.normal(size=(128, 784)).astype("float32"), rng.integers(0, 10, 128))


def cnn(layers: Any, keras: Any) -> tuple[Any, Any, Any]:
    """Three convolutions with normalisation on 64 images of 32 x 32."""
    rng = np.random.default_rng(0)
    x = entry = keras.Input((32, 32, 3))
    for width in (32, 64):
        x = layers.Conv2D(width, 3, padding="same")(x)
        x = layers.MaxPooling2D()(layers.ReLU()(layers.BatchNormalization()(x)))
    x = layers.Conv2D(128, 3, padding="same", activation="relu")(x)
    head = layers.Dense(10)(layers.GlobalAveragePooling2D()(x))
    return entry, head, (rng.normal(size=(64, 32, 32, 3)).astype("float32"), rng.integers(0, 10, 64))


def transformer(layers: Any, keras: Any) -> tuple[Any, Any, Any]:
    """Four blocks of width 128 on 8 sequences of 64 tokens out of 2000: a million weights in 67 variables."""
    rng = np.random.default_rng(0)
    entry = keras.Input((64,), dtype="int32")
    x = layers.Embedding(2000, 128)(entry)
    for _ in range(4):
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 32)(x, x))
        x = layers.LayerNormalization()(x + layers.Dense(128)(layers.Dense(256, activation="gelu")(x)))
    return entry, layers.Dense(2000)(x), (rng.integers(0, 2000, (8, 64)), rng.integers(0, 2000, (8, 64)))


def policy(layers: Any, keras: Any) -> tuple[Any, Any, Any]:
    """Two small layers on 8 states: a step that is over before anything can hide behind it."""
    rng = np.random.default_rng(0)
    entry = keras.Input((4,))
    x = layers.Dense(32, activation="tanh")(layers.Dense(32, activation="tanh")(entry))
    return entry, layers.Dense(2)(x), (rng.normal(size=(8, 4)).astype("float32"), rng.integers(0, 2, 8))


NETWORKS = {"policy": policy, "MLP": mlp, "CNN": cnn, "transformer": transformer}


def endless(batch: Any) -> Any:
    """The same batch over and over, as `fit` takes it."""
    import tensorflow as tf

    return iter(tf.data.Dataset.from_tensors(batch).cache().repeat().prefetch(2))
