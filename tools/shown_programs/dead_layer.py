"""A deep network, one of whose layers never fires; not with `healthy` on the command line."""

from __future__ import annotations

import sys

import keras
import numpy as np

import whygrad

rng = np.random.default_rng(0)
x = rng.normal(size=(2048, 20)).astype("float32")
y = (x[:, :1] * 2 + np.sin(x[:, 1:2])).astype("float32")


def train(name: str, bias: float) -> None:
    keras.utils.set_random_seed(0)
    layers = [
        keras.layers.Dense(
            32,
            activation="relu",
            name=f"block_{i}",
            bias_initializer=keras.initializers.Constant(bias if i == 3 else 0.0),
        )
        for i in range(6)
    ]
    model = keras.Sequential([keras.Input((20,)), *layers, keras.layers.Dense(1, name="head")], name="net")
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
    model.fit(
        x,
        y,
        batch_size=16,
        epochs=4,
        validation_split=0.2,
        callbacks=[whygrad.Monitor(name, histograms=True)],
        verbose=0,
        shuffle=False,
    )


if "healthy" in sys.argv:
    train("healthy", 0.0)
else:
    train("dead layer", -1.2)
