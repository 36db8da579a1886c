# case: squashed_action_log_prob
# verdict: bug
# cause: nan-log
# expect_line: 39
# expect_variables: dense/*, dense_1/*, mu/*, log_std/* (the actor), critic/*
# symptom_today: silent: critic and actor loss are NaN from the first step, all weights become NaN
# exit: 0
# fix: correct the log-probability with the unscaled tanh: log(1 - tanh(raw)**2 + eps), not with the action that was multiplied by max_action
# source: philtabor/Actor-Critic-Methods-Paper-To-Code#7, philtabor/Youtube-Code-Repository#59, cpnota/autonomous-learning-library#139 (SAC log prob is NaN when the action is scaled)
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(11)
OBS, ACT, MAX_ACTION, ALPHA, GAMMA, NOISE = 3, 1, 2.0, 0.1, 0.5, 1e-6


def build_actor():
    obs = keras.Input((OBS,))
    h = layers.Dense(32, activation="relu")(obs)
    h = layers.Dense(32, activation="relu")(h)
    return keras.Model(obs, [layers.Dense(ACT, name="mu")(h), layers.Dense(ACT, name="log_std")(h)], name="actor")


actor = build_actor()
critic = keras.Sequential([keras.Input((OBS + ACT,)), layers.Dense(32, activation="relu"),
                           layers.Dense(32, activation="relu"), layers.Dense(1)], name="critic")
actor_opt = keras.optimizers.Adam(3e-4)
critic_opt = keras.optimizers.Adam(3e-3)


def sample_normal(states):
    mu, log_std = actor(states, training=True)
    std = tf.exp(tf.clip_by_value(log_std, -5.0, 2.0))
    raw = mu + std * tf.random.normal(tf.shape(mu))
    action = tf.tanh(raw) * MAX_ACTION
    log_probs = -0.5 * tf.square((raw - mu) / std) - tf.math.log(std) - 0.5 * np.log(2 * np.pi)
    log_probs -= tf.math.log(1.0 - tf.square(action) + NOISE)
    return action, tf.reduce_sum(log_probs, axis=1, keepdims=True)


@tf.function
def learn(states, actions, rewards, next_states):
    next_actions, next_log_probs = sample_normal(next_states)
    next_q = critic(tf.concat([next_states, next_actions], 1))
    target = rewards + GAMMA * (next_q - ALPHA * next_log_probs)
    with tf.GradientTape() as tape:
        q = critic(tf.concat([states, actions], 1), training=True)
        critic_loss = tf.reduce_mean(tf.square(q - target))
    grads = tape.gradient(critic_loss, critic.trainable_variables)
    critic_opt.apply_gradients(zip(grads, critic.trainable_variables))

    with tf.GradientTape() as tape:
        new_actions, log_probs = sample_normal(states)
        q = critic(tf.concat([states, new_actions], 1), training=True)
        actor_loss = tf.reduce_mean(ALPHA * log_probs - q)
    grads = tape.gradient(actor_loss, actor.trainable_variables)
    actor_opt.apply_gradients(zip(grads, actor.trainable_variables))
    return critic_loss, actor_loss


rng = np.random.default_rng(0)
for step in range(20):
    s = rng.uniform(-1, 1, size=(64, OBS)).astype("float32")
    a = rng.uniform(-MAX_ACTION, MAX_ACTION, size=(64, ACT)).astype("float32")
    r = -np.square(a - s[:, :1]).astype("float32")
    s2 = np.clip(s + 0.1 * a, -1, 1)
    c_loss, a_loss = learn(s, a, r, s2)
print("critic", float(c_loss), "actor", float(a_loss))
assert np.isnan(float(c_loss)) and np.isnan(float(a_loss))
assert all(np.isnan(w).any() for w in actor.get_weights() + critic.get_weights())
