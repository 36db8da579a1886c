# case: squashed_policy_entropy
# verdict: bug
# cause: nan-log
# expect_line: 39
# expect_variables: actor/*
# symptom_today: the soft actor improves for some dozens of updates, then its loss is inf and all weights of the actor are NaN at once
# exit: 0
# fix: use the stable form 2*(log 2 - u - softplus(-2u)) of log(1 - tanh(u)^2), or add an epsilon inside the logarithm
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
from collections import deque
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(5)
LOG_2PI = float(np.log(2 * np.pi))


class Thrusters:
    """Two thrusters; a wind pushes the craft, full counter-thrust pays most (one-step episodes)."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self, n):
        side = self.rng.choice([-1.0, 1.0], size=(n, 2))
        return (side * self.rng.uniform(0.6, 1.4, (n, 2))).astype("float32")

    def reward(self, wind, thrust):
        return (8.0 - 4.0 * np.abs(thrust + 1.5 * np.sign(wind)).sum(1)).astype("float32")


def squash(u, mean, log_std):
    """tanh of a Gaussian draw and the log-density of the result."""
    logp = -0.5 * (((u - mean) / tf.exp(log_std)) ** 2 + 2.0 * log_std + LOG_2PI)
    action = tf.tanh(u)
    logp = logp - tf.math.log(1.0 - action ** 2)
    return action, tf.reduce_sum(logp, axis=-1)


class Actor(keras.Model):
    def __init__(self, n_actions, **kwargs):
        super().__init__(**kwargs)
        self.body = layers.Dense(48, activation="swish", name="body")
        self.mean = layers.Dense(n_actions, name="mean")
        self.log_std = layers.Dense(n_actions, name="log_std")

    def call(self, obs):
        h = self.body(obs)
        return self.mean(h), tf.clip_by_value(self.log_std(h), -5.0, 1.0)

    def act(self, obs):
        mean, log_std = self(obs)
        u = mean + tf.exp(log_std) * tf.random.normal(tf.shape(mean))
        return squash(u, mean, log_std)


class Critic(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.hidden = [layers.Dense(48, activation="swish", name=f"q{i}") for i in range(2)]
        self.value = layers.Dense(1, name="value")

    def call(self, obs, action):
        h = tf.concat([obs, action], axis=-1)
        for layer in self.hidden:
            h = layer(h)
        return tf.squeeze(self.value(h), -1)


class SoftAgent:
    def __init__(self, alpha=0.002, lr=1e-2):
        self.actor, self.critic = Actor(2, name="actor"), Critic(name="critic")
        self.alpha = alpha
        self.actor_opt = keras.optimizers.Adam(lr)
        self.critic_opt = keras.optimizers.Adam(lr)

    @tf.function
    def update(self, obs, action, reward):
        with tf.GradientTape() as tape:
            q_loss = tf.reduce_mean((self.critic(obs, action) - reward) ** 2)
        grads = tape.gradient(q_loss, self.critic.trainable_variables)
        self.critic_opt.apply_gradients(zip(grads, self.critic.trainable_variables))
        with tf.GradientTape() as tape:
            new_action, logp = self.actor.act(obs)
            pi_loss = tf.reduce_mean(self.alpha * logp - self.critic(obs, new_action))
        grads = tape.gradient(pi_loss, self.actor.trainable_variables)
        self.actor_opt.apply_gradients(zip(grads, self.actor.trainable_variables))
        return q_loss, pi_loss


env, agent, memory = Thrusters(3), SoftAgent(), deque(maxlen=40)
losses = []
for step in range(600):
    wind = env.reset(64)
    thrust = agent.actor.act(tf.constant(wind))[0].numpy()
    memory.append((wind, thrust, env.reward(wind, thrust)))
    pick = np.random.default_rng(step).integers(0, len(memory), 4)
    batch = [np.concatenate([memory[i][k] for i in pick]) for k in range(3)]
    q_loss, pi_loss = agent.update(*map(tf.constant, batch))
    losses.append(float(pi_loss))
    if step % 25 == 0 or not np.isfinite(losses[-1]):
        print(f"update {step:3d}  q_loss {float(q_loss):8.4f}  pi_loss {losses[-1]:8.4f}  reward {memory[-1][2].mean():7.3f}")
    if not np.isfinite(losses[-1]):
        break

assert len(losses) > 20 and np.isfinite(losses[:20]).all(), "it trains at first"
assert np.isfinite(float(q_loss)) and not np.isfinite(losses[-1])
assert all(np.isnan(v.numpy()).any() for v in agent.actor.trainable_variables)
assert all(np.isfinite(v.numpy()).all() for v in agent.critic.trainable_variables)
