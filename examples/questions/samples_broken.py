"""A policy that learns which of four doors to open."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
payout = tf.constant([0.1, 0.3, 0.9, 0.2])
policy = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(4)])
optimizer = keras.optimizers.Adam(0.05)

for step in range(60):
    state = tf.random.normal((32, 3))
    with tf.GradientTape() as tape:
        logits = policy(state, training=True)
        door = tf.random.categorical(logits, 1)[:, 0]
        reward = tf.gather(payout, door)
        loss = -tf.reduce_mean(reward)
    gradients = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(gradients, policy.trainable_variables))
print(f"mean reward {float(tf.reduce_mean(reward)):.2f}")
