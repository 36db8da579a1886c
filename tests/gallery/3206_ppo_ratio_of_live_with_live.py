# case: ppo_ratio_of_live_with_live
# verdict: bug; static: no
# cause: zero-gradient-op
# expect_line: 25 26
# expect_variables: dense/*, dense_1/* (gradient exactly 0)
# symptom_today: silent: the ratio is always 1 and the gradient is 0
# exit: 0
# fix: old = tf.stop_gradient(...) (or the stored log-probabilities of the rollout)
# source: tensorforce/tensorforce#312 (probability ratio is always exactly 1)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
policy = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(3)])
opt = keras.optimizers.Adam(1e-2)


def log_prob(obs, actions):
    return -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=policy(obs))


def surrogate(obs, actions, advantage, clip=0.2):
    new = log_prob(obs, actions)
    old = log_prob(obs, actions)
    ratio = tf.exp(new - old)
    clipped = tf.clip_by_value(ratio, 1.0 - clip, 1.0 + clip)
    return -tf.reduce_mean(tf.minimum(ratio * advantage, clipped * advantage))


rng = np.random.default_rng(0)
obs = tf.constant(rng.normal(size=(64, 4)).astype("float32"))
actions = tf.constant(rng.integers(0, 3, size=64))
advantage = tf.constant(rng.normal(size=64).astype("float32"))
for epoch in range(4):
    with tf.GradientTape() as tape:
        loss = surrogate(obs, actions, advantage)
    grads = tape.gradient(loss, policy.trainable_variables)
    opt.apply_gradients(zip(grads, policy.trainable_variables))
    print(epoch, float(loss), "largest gradient", max(float(tf.reduce_max(tf.abs(g))) for g in grads))
assert all(float(tf.reduce_max(tf.abs(g))) < 1e-6 for g in grads)
