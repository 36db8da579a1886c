"""A policy that learns which of four doors to open."""

import keras
import tensorflow as tf
import whygrad as wg

keras.utils.set_random_seed(0)
payout = tf.constant([0.1, 0.3, 0.9, 0.2])
policy = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(4)])
optimizer = keras.optimizers.Adam(0.05)

for step in range(60):
    state = tf.random.normal((32, 3))
    with tf.GradientTape() as tape:
        logits = policy(state, training=True)
        draw = wg.sampling.draw_categorical(logits, onehot=False)
        reward = tf.gather(payout, draw.sample)
        loss = tf.reduce_mean(wg.sampling.score_function(-reward, draw.log_prob, baseline="leave-one-out"))
    gradients = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(gradients, policy.trainable_variables))
print(f"mean reward {float(tf.reduce_mean(reward)):.2f}")
