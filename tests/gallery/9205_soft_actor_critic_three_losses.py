# case: soft_actor_critic_three_losses
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: tensorflow/agents#158 (SAC: which loss trains which variables)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


def mlp(n_in, n_out, name):
    return keras.Sequential([keras.layers.Input((n_in,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(n_out)], name=name)


actor, critic = mlp(3, 2, "actor"), mlp(4, 1, "critic")
log_alpha = tf.Variable(0.0, name="log_alpha")
opts = {k: keras.optimizers.Adam(5e-3) for k in ("actor", "critic", "alpha")}


def act(obs):
    mean, log_std = tf.split(actor(obs), 2, axis=-1)
    noise = tf.random.normal(tf.shape(mean))
    log_prob = -0.5 * tf.square(noise) - log_std
    return mean + tf.exp(log_std) * noise, log_prob


def update(obs, action, reward):
    with tf.GradientTape() as tape:
        q_loss = tf.reduce_mean(tf.square(critic(tf.concat([obs, action], 1)) - reward))
    opts["critic"].apply_gradients(zip(tape.gradient(q_loss, critic.trainable_variables), critic.trainable_variables))
    with tf.GradientTape() as tape:
        new, log_prob = act(obs)
        pi_loss = tf.reduce_mean(tf.stop_gradient(tf.exp(log_alpha)) * log_prob - critic(tf.concat([obs, new], 1)))
    opts["actor"].apply_gradients(zip(tape.gradient(pi_loss, actor.trainable_variables), actor.trainable_variables))
    with tf.GradientTape() as tape:
        a_loss = -tf.reduce_mean(log_alpha * tf.stop_gradient(log_prob - 1.0))
    opts["alpha"].apply_gradients([(tape.gradient(a_loss, log_alpha), log_alpha)])
    return float(q_loss)


rng = np.random.default_rng(0)
obs, action = (tf.constant(rng.normal(size=(64, n)).astype("float32")) for n in (3, 1))
reward = -tf.square(action - obs[:, :1])
history = [update(obs, action, reward) for _ in range(30)]
assert history[-1] < history[0] and float(log_alpha) != 0.0
print("ok", history[0], history[-1], float(log_alpha))
