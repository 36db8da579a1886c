"""Cross-entropy over target distributions with zeros in them: 0 * log 0 counts as 0."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
x = tf.random.normal((128, 6))
weights = tf.nn.relu(tf.random.normal((128, 4))) + tf.one_hot(tf.argmax(x[:, :4], axis=1), 4)
votes = weights / tf.reduce_sum(weights, axis=1, keepdims=True)

model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(4)])
optimizer = keras.optimizers.Adam(0.01)


def sparse_softmax(logits):
    """Probabilities of which the small ones are exactly zero."""
    kept = tf.nn.relu(tf.nn.softmax(logits) - 0.05)
    return kept / tf.reduce_sum(kept, axis=-1, keepdims=True)


def cross_entropy(votes, p):
    return -tf.reduce_mean(tf.reduce_sum(votes * tf.where(p > 0.0, tf.math.log(p), -10.0), axis=-1))


for step in range(30):
    with tf.GradientTape() as tape:
        loss = cross_entropy(votes, sparse_softmax(model(x, training=True)))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
print(f"loss {float(loss):.3f}")
