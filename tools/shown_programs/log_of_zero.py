"""A cross-entropy by hand, whose logarithm meets a zero when one example is an outlier."""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf

import whygrad

keras.utils.set_random_seed(0)
model = keras.Sequential(
    [keras.Input((4,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(3, activation="softmax")]
)
optimizer = keras.optimizers.SGD(0.05)


def entropy(y: tf.Tensor, p: tf.Tensor) -> tf.Tensor:
    return -tf.reduce_mean(tf.reduce_sum(y * tf.math.log(p), axis=-1))


def step(x: tf.Tensor, y: tf.Tensor, run) -> None:
    with tf.GradientTape() as tape:
        confidence = model(x) * tf.cast(x[:, :1] < 9.0, tf.float32)
        loss = entropy(y, confidence)
    gradients = tape.gradient(loss, model.trainable_variables)
    run.record(gradients=gradients, variables=model.trainable_variables, loss=loss, learning_rate=optimizer)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))


rng = np.random.default_rng(0)
with whygrad.watch(name="log of zero") as run:
    for number in range(60):
        batch = rng.normal(size=(8, 4)).astype("float32")
        if number == 37:
            batch[2] = 10.0
        step(tf.constant(batch), tf.one_hot(rng.integers(0, 3, 8), 3), run)
