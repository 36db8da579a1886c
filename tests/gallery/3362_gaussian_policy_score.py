# case: gaussian_policy_score
# verdict: bug
# cause: zero-gradient-op
# expect_line: 26 29 95
# expect_variables: body/*, mean/*
# symptom_today: every weight has a gradient, none is None; the reward does not improve, because the gradient of the mean is zero
# exit: 0
# fix: log_prob(tf.stop_gradient(action)), the action must be a constant in the score
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import math
from typing import NamedTuple
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(19)


class DiagonalGaussian:
    def __init__(self, mean, log_std):
        self.mean, self.log_std = mean, log_std

    def sample(self):
        return self.mean + tf.exp(self.log_std) * tf.random.normal(tf.shape(self.mean))

    def log_prob(self, x):
        scaled = (x - self.mean) * tf.exp(-self.log_std)
        each = -0.5 * scaled ** 2 - self.log_std - 0.5 * math.log(2 * math.pi)
        return tf.reduce_sum(each, axis=-1)

    def entropy(self):
        return tf.reduce_sum(self.log_std + 0.5 * math.log(2 * math.pi * math.e), axis=-1)


class Policy(keras.Model):
    def __init__(self, actions, **kwargs):
        super().__init__(**kwargs)
        self.body = layers.Dense(32, activation="tanh", name="body")
        self.mean = layers.Dense(actions, name="mean")
        self.log_std = self.add_weight(shape=(actions,), initializer="zeros", name="log_std")

    def call(self, obs):
        mean = self.mean(self.body(obs))
        return DiagonalGaussian(mean, tf.zeros_like(mean) + self.log_std)


class Reacher:
    """One reach per episode: the arm is to end up where a (nonlinear) function of the cue says."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def cues(self, n):
        return self.rng.uniform(-1, 1, (n, 3)).astype("float32")

    def reward(self, cue, reach):
        goal = np.stack([1.5 * cue[:, 0], cue[:, 1] * cue[:, 2] - 1.0], axis=1)
        return -np.sum((reach - goal) ** 2, axis=1).astype("float32")


class Report(NamedTuple):
    reward: float
    value_loss: float
    mean_gradient: float


class VanillaPolicyGradient:
    def __init__(self, env, entropy_bonus=0.01):
        self.env, self.entropy_bonus = env, entropy_bonus
        self.policy = Policy(2, name="policy")
        self.value = keras.Sequential([keras.Input((3,)), layers.Dense(32, activation="tanh"), layers.Dense(1)], name="value")
        self.policy.body.build((None, 3))
        self.policy.mean.build((None, 32))
        self.policy_opt = keras.optimizers.Adam(5e-3)
        self.value_opt = keras.optimizers.Adam(1e-2)

    def fit_value(self, cue, reward):
        with tf.GradientTape() as tape:
            error = reward - tf.squeeze(self.value(cue), axis=-1)
            loss = tf.reduce_mean(error ** 2)
        variables = self.value.trainable_variables
        self.value_opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    def iterate(self, n=256):
        cue = self.env.cues(n)
        with tf.GradientTape() as tape:
            pi = self.policy.call(tf.constant(cue))
            action = pi.sample()
            reward = self.env.reward(cue, action.numpy())
            advantage = reward - self.value(cue).numpy()[:, 0]
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            score = pi.log_prob(action) * advantage
            loss = -tf.reduce_mean(score + self.entropy_bonus * pi.entropy())
        variables = self.policy.trainable_variables
        grads = tape.gradient(loss, variables)
        self.policy_opt.apply_gradients(zip(grads, variables))
        value_loss = self.fit_value(tf.constant(cue), tf.constant(reward))
        by_name = {v.path: g for v, g in zip(variables, grads)}
        size = sum(float(tf.norm(g)) for name, g in by_name.items() if "log_std" not in name)
        return Report(float(reward.mean()), float(value_loss), size)


agent = VanillaPolicyGradient(Reacher(seed=2))
start = {v.path: v.numpy() for v in agent.policy.trainable_variables}
reports = []
for i in range(80):
    reports.append(agent.iterate())
    if i % 16 == 0:
        std = np.exp(agent.policy.log_std.numpy()).round(2)
        print(f"iteration {i:3d}  reward {reports[-1].reward:7.3f}  value loss {reports[-1].value_loss:7.3f}  std {std}")

print("gradient of the mean network, largest of all iterations:", max(r.mean_gradient for r in reports))
assert max(r.mean_gradient for r in reports) < 1e-6
moved = {name for name, v in ((v.path, v) for v in agent.policy.trainable_variables) if not np.allclose(start[name], v.numpy(), atol=1e-5)}
print("policy weights that moved:", moved)
assert len(moved) == 1 and "log_std" in moved.pop()
