"""An autoencoder with a code of whole numbers and a score: two terms of its loss stop before the encoder."""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
encoder = keras.Sequential(
    [keras.Input((16,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(8)], name="encoder"
)
decoder = keras.Sequential(
    [keras.Input((8,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(16)], name="decoder"
)
head = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)], name="head")
optimizer = keras.optimizers.Adam(1e-3)


def train_step(x: tf.Tensor, y: tf.Tensor) -> None:
    with tf.GradientTape() as tape:
        code = encoder(x)
        rounded = tf.round(code)
        fit = tf.reduce_mean(tf.square(decoder(rounded) - x))
        score = tf.reduce_mean(tf.square(head(tf.stop_gradient(code)) - y))
        decay = 1e-4 * tf.add_n([tf.reduce_sum(tf.square(v)) for v in decoder.trainable_variables])
        loss = fit + 0.5 * score + decay
    variables = encoder.trainable_variables + decoder.trainable_variables + head.trainable_variables
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables, strict=True))


rng = np.random.default_rng(0)
for _ in range(40):
    batch = rng.normal(size=(32, 16)).astype("float32")
    train_step(tf.constant(batch), tf.constant(batch[:, :1]))
