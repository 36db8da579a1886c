"""Fine-tune in two phases: the new head alone, then the body with it."""

import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(256, 8)).astype("float32")
y = np.sin(x[:, :1]) + x[:, 1:2]

body = keras.Sequential([keras.Input((8,)), keras.layers.Dense(32, activation="relu")], name="body")
head = keras.layers.Dense(1, name="head")
model = keras.Sequential([keras.Input((8,)), body, head])

body.trainable = False
model.compile(keras.optimizers.Adam(0.01), "mse")
first = model.fit(x, y, epochs=4, verbose=0)

body.trainable = True
model.compile(keras.optimizers.Adam(0.001), "mse")
second = model.fit(x, y, epochs=4, verbose=0)
print(f"loss {first.history['loss'][-1]:.3f}, then {second.history['loss'][-1]:.3f}")
