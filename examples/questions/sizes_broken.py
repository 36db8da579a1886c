"""Ten layers, and the first ones hardly move."""

import keras
import numpy as np
import tensorflow as tf
import whygrad as wg

keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(256, 12)).astype("float32")
y = (x[:, :1] * x[:, 1:2] > 0).astype("float32")

layers = [keras.layers.Dense(24, activation="sigmoid") for _ in range(9)]
model = keras.Sequential([keras.Input((12,)), *layers, keras.layers.Dense(1)])
with tf.GradientTape() as tape:
    loss = keras.losses.BinaryCrossentropy(from_logits=True)(y, model(x, training=True))
gradients = tape.gradient(loss, model.trainable_variables)
print(wg.summarize(gradients, model.trainable_variables, by="layer"))

model.compile(keras.optimizers.Adam(0.003), keras.losses.BinaryCrossentropy(from_logits=True))
history = model.fit(x, y, epochs=12, verbose=0)
print(f"loss {history.history['loss'][0]:.3f} to {history.history['loss'][-1]:.3f}")
