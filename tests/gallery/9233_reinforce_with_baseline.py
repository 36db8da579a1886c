# case: reinforce_with_baseline
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains; the draw, the return and the baseline are constants of the policy loss on purpose
# exit: 0
# fix: -
# source: own; score-function estimator for a contextual bandit
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
policy = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)], name="policy")
baseline = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)], name="baseline")
p_opt, b_opt = keras.optimizers.Adam(2e-2), keras.optimizers.Adam(2e-2)
rng = np.random.default_rng(0)
best = tf.constant(rng.normal(size=(4, 3)), tf.float32)


def reward_of(states, actions):
    return tf.gather(tf.matmul(states, best), actions, axis=1, batch_dims=1)


@tf.function
def update(states):
    with tf.GradientTape(persistent=True) as tape:
        logits = policy(states, training=True)
        actions = tf.squeeze(tf.random.categorical(logits, 1), axis=1)
        reward = tf.stop_gradient(reward_of(states, actions))
        value = tf.squeeze(baseline(states, training=True), axis=1)
        log_prob = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=logits)
        entropy = tf.reduce_mean(tf.reduce_sum(-tf.nn.softmax(logits) * tf.nn.log_softmax(logits), axis=1))
        policy_loss = -tf.reduce_mean(log_prob * tf.stop_gradient(reward - value)) - 0.01 * entropy
        value_loss = tf.reduce_mean(tf.square(value - reward))
    p_opt.apply_gradients(zip(tape.gradient(policy_loss, policy.trainable_variables), policy.trainable_variables))
    b_opt.apply_gradients(zip(tape.gradient(value_loss, baseline.trainable_variables), baseline.trainable_variables))
    del tape
    return tf.reduce_mean(reward)


rewards = [float(update(tf.constant(rng.normal(size=(64, 4)), tf.float32))) for _ in range(60)]
assert np.mean(rewards[-10:]) > np.mean(rewards[:10])
print("ok", np.mean(rewards[:10]), np.mean(rewards[-10:]))
