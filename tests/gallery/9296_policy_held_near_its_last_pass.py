# case: policy_held_near_its_last_pass
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
"""A policy for three machines, held near what it was before; some numbers in its loss are there to be read only."""
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(11)
rng = np.random.default_rng(3)
policy = keras.Sequential([keras.Input((5,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(3)])
optimizer = keras.optimizers.Adam(0.01)
taste = rng.normal(size=(5, 3))
reported = 0.0


def log_odds(state):
    return tf.nn.log_softmax(policy(state))


def smoothness(state):
    return 0.05 * tf.reduce_mean(tf.abs(policy(state + 0.05) - policy(state)))


rewards, rough = [], tf.constant(0.0)
for round_ in range(12):
    state = rng.normal(size=(128, 5)).astype("float32")
    old = log_odds(state)
    action = tf.random.categorical(old, 1, seed=round_)[:, 0]
    reward = (action.numpy() == np.argmax(state @ taste, axis=1)).astype("float32")
    advantage = tf.constant((reward - reward.mean()) / (reward.std() + 1e-6))
    chosen_before = tf.gather(old, action, batch_dims=1)
    for epoch in range(4):
        with tf.GradientTape() as tape:
            new = log_odds(state)
            chosen = tf.gather(new, action, batch_dims=1)
            gain = tf.reduce_mean(tf.exp(chosen - chosen_before) * advantage)
            with tape.stop_recording():  # the gain was zero before the first of these steps
                zero = tf.reduce_mean(tf.exp(tf.gather(old, action, batch_dims=1) - chosen_before) * advantage)
            # the entropy of the old policy makes this a divergence, and moves nothing
            apart = tf.reduce_mean(tf.reduce_sum(tf.exp(old) * old, axis=1))
            apart -= tf.reduce_mean(tf.reduce_sum(tf.exp(old) * new, axis=1))
            if epoch % 2 == 0:
                rough = smoothness(state)  # dear, and kept for the next step
            loss = 0.5 * apart - (gain - zero) + rough + tf.stop_gradient(reported * tf.reduce_mean(tf.abs(new)))
        grads = tape.gradient(loss, policy.trainable_variables)
        optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    rewards.append(reward.mean())

print(np.round(rewards, 3))
assert all(g is not None for g in grads)
assert rewards[-1] > rewards[0]
