# case: squashed_gaussian_actor
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains; the tanh correction is written with softplus, the log of sigma is clipped
# exit: 0
# fix: -
# source: own; the stable form of openai/spinningup#101 and philtabor/Actor-Critic-Methods-Paper-To-Code#7
import math
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
actor = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)], name="actor")
log_alpha = tf.Variable(0.0, name="log_alpha")
opt, alpha_opt = keras.optimizers.Adam(1e-2), keras.optimizers.Adam(1e-2)
TARGET_ENTROPY = -1.0


def sample(states):
    mean, log_std = tf.split(actor(states), 2, axis=1)
    log_std = tf.clip_by_value(log_std, -5.0, 2.0)
    eps = tf.random.normal(tf.shape(mean))
    u = mean + tf.exp(log_std) * eps
    log_prob = -0.5 * tf.square(eps) - log_std - 0.5 * math.log(2.0 * math.pi)
    log_prob -= 2.0 * (math.log(2.0) - u - tf.nn.softplus(-2.0 * u))
    return tf.tanh(u), tf.reduce_sum(log_prob, axis=1)


@tf.function
def update(states):
    with tf.GradientTape() as tape:
        action, log_prob = sample(states)
        q = -tf.square(action[:, 0] - 0.7 * tf.tanh(states[:, 0]))
        actor_loss = tf.reduce_mean(tf.exp(tf.stop_gradient(log_alpha)) * log_prob - 5.0 * q)
    opt.apply_gradients(zip(tape.gradient(actor_loss, actor.trainable_variables), actor.trainable_variables))
    with tf.GradientTape() as tape:
        alpha_loss = -tf.reduce_mean(log_alpha * tf.stop_gradient(log_prob + TARGET_ENTROPY))
    alpha_opt.apply_gradients([(tape.gradient(alpha_loss, log_alpha), log_alpha)])
    return tf.reduce_mean(q)


rng = np.random.default_rng(0)
scores = [float(update(tf.constant(10.0 * rng.normal(size=(64, 3)), tf.float32))) for _ in range(80)]
assert np.isfinite(scores).all() and np.mean(scores[-10:]) > np.mean(scores[:10])
print("ok", np.mean(scores[:10]), np.mean(scores[-10:]))
