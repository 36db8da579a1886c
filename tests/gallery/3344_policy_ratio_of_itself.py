# case: ppo_ratio_of_itself
# verdict: bug
# cause: zero-gradient-op
# expect_line: 55 57
# expect_variables: pi_hidden/*, pi_logits/*
# symptom_today: the mean reward stays at chance; the gradients of the actor are all exactly 0 (the critic learns)
# exit: 0
# fix: take the old log-probabilities once, when the actions are sampled (outside the tape, or with tf.stop_gradient)
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(5)

N_ACTIONS, OBS = 4, 6
CLIP, EPOCHS, BATCH = 0.2, 4, 256

true_map = np.random.normal(size=(OBS, N_ACTIONS)).astype("float32")


class ContextWorld:
    """One-step environment: 1.0 for the right action, 0.0 otherwise."""

    def reset(self, n):
        self.obs = np.random.normal(size=(n, OBS)).astype("float32")
        return tf.constant(self.obs)

    def step(self, actions):
        best = np.argmax(self.obs @ true_map, axis=1)
        return tf.constant((best == actions.numpy()).astype("float32"))


actor = keras.Sequential([
    keras.Input((OBS,)),
    layers.Dense(32, activation="tanh", name="pi_hidden"),
    layers.Dense(N_ACTIONS, name="pi_logits"),
])
critic = keras.Sequential([
    keras.Input((OBS,)),
    layers.Dense(32, activation="tanh", name="v_hidden"),
    layers.Dense(1, name="v_out"),
])
actor_opt = keras.optimizers.Adam(1e-2)
critic_opt = keras.optimizers.Adam(5e-3)


def log_prob(obs, actions):
    logp = tf.nn.log_softmax(actor(obs))
    return tf.reduce_sum(logp * tf.one_hot(actions, N_ACTIONS), axis=1)


def update_actor(obs, actions, advantage):
    with tf.GradientTape() as tape:
        old_logp = log_prob(obs, actions)
        new_logp = log_prob(obs, actions)
        ratio = tf.exp(new_logp - old_logp)
        clipped = tf.clip_by_value(ratio, 1.0 - CLIP, 1.0 + CLIP)
        loss = -tf.reduce_mean(tf.minimum(ratio * advantage, clipped * advantage))
    grads = tape.gradient(loss, actor.trainable_variables)
    actor_opt.apply_gradients(zip(grads, actor.trainable_variables))
    return loss


def update_critic(obs, reward):
    with tf.GradientTape() as tape:
        value = tf.squeeze(critic(obs), axis=1)
        loss = tf.reduce_mean(tf.square(reward - value))
    grads = tape.gradient(loss, critic.trainable_variables)
    critic_opt.apply_gradients(zip(grads, critic.trainable_variables))
    return loss


env = ContextWorld()
for it in range(16):
    obs = env.reset(BATCH)
    actions = tf.random.categorical(actor(obs), 1)[:, 0]
    reward = env.step(actions)
    advantage = reward - tf.squeeze(critic(obs), axis=1)
    for _ in range(EPOCHS):
        pi_loss = update_actor(obs, actions, advantage)
        v_loss = update_critic(obs, reward)
    if it % 3 == 0:
        print(f"iter {it:2d}  reward {float(tf.reduce_mean(reward)):.3f}  "
              f"pi_loss {float(pi_loss):+.4f}  v_loss {float(v_loss):.4f}")
