"""Rank documents: the relevant one of each query should score higher than the others, by a margin."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
documents = tf.random.normal((32, 5, 6))
relevant = np.argmax(documents[..., 0], axis=1)

scorer = keras.Sequential(
    [keras.Input((5, 6)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, use_bias=False)]
)
optimizer = keras.optimizers.Adam(0.01)


def margin_loss(scores, relevant, margin=1.0):
    """The mean hinge of each irrelevant document against the relevant one."""
    total = 0.0
    for row, best in zip(scores.numpy(), relevant):
        total += np.maximum(0.0, margin + np.delete(row, best) - row[best]).mean()
    return tf.constant(total / len(relevant), tf.float32)


for step in range(30):
    with tf.GradientTape() as tape:
        scores = tf.squeeze(scorer(documents), axis=-1)
        loss = margin_loss(scores, relevant)
    gradients = tape.gradient(loss, scorer.trainable_variables)
    optimizer.apply_gradients(zip(gradients, scorer.trainable_variables))
print(f"loss {float(loss):.3f}")
