# case: squashed_torque
# verdict: bug
# cause: nan-log
# expect_line: 53
# expect_variables: -
# symptom_today: both losses are NaN in the first update, after it every weight of actor and critic holds NaN
# exit: 0
# fix: correct the density with tanh(raw), not with the action that was already scaled by max_action
# source: philtabor/Actor-Critic-Methods-Paper-To-Code#7, SAC: log(1 - action**2 + noise) of the scaled action is the log of a negative number
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(8)

SAC = {"max_action": 2.0, "alpha": 0.2, "gamma": 0.95, "noise": 1e-6, "batch": 64, "lr": 1e-3, "tau": 0.01}


class Pendulum:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def transitions(self, n):
        angle, speed = self.rng.uniform(-np.pi, np.pi, n), self.rng.uniform(-4, 4, n)
        torque = self.rng.uniform(-SAC["max_action"], SAC["max_action"], n)
        reward = -(angle**2 + 0.1 * speed**2 + 0.001 * torque**2)
        speed2 = np.clip(speed + 0.05 * (15 * np.sin(angle) + 3 * torque), -8, 8)
        angle2 = (angle + 0.05 * speed2 + np.pi) % (2 * np.pi) - np.pi
        view = lambda a, s: np.stack([np.cos(a), np.sin(a), s / 8], 1).astype("float32")
        return view(angle, speed), torque[:, None].astype("float32"), reward[:, None].astype("float32"), view(angle2, speed2)


class Actor(keras.Model):
    def __init__(self):
        super().__init__(name="actor")
        self.hidden = layers.Dense(64, activation="relu", name="hidden")
        self.mu = layers.Dense(1, name="mu")
        self.log_sigma = layers.Dense(1, name="log_sigma")

    def call(self, state):
        h = self.hidden(state)
        return self.mu(h), tf.clip_by_value(self.log_sigma(h), -5.0, 1.0)

    def sample(self, state):
        mu, log_sigma = self(state)
        eps = tf.random.normal(tf.shape(mu))
        raw = mu + tf.exp(log_sigma) * eps
        action = tf.tanh(raw) * SAC["max_action"]
        log_prob = -0.5 * tf.square(eps) - log_sigma - 0.5 * np.log(2 * np.pi)
        log_prob -= tf.math.log(1.0 - tf.square(action) + SAC["noise"])
        return action, tf.reduce_sum(log_prob, axis=-1, keepdims=True)


def build_critic(name):
    state, action = keras.Input((3,)), keras.Input((1,))
    x = layers.Concatenate()([state, action])
    x = layers.Dense(64, activation="relu", name=name + "_hidden")(x)
    return keras.Model([state, action], layers.Dense(1, name=name + "_q")(x), name=name)


class Agent:
    def __init__(self):
        self.actor, self.critic, self.slow_critic = Actor(), build_critic("critic"), build_critic("slow")
        self.slow_critic.set_weights(self.critic.get_weights())
        self.actor_opt, self.critic_opt = keras.optimizers.Adam(SAC["lr"]), keras.optimizers.Adam(SAC["lr"])

    def learn_critic(self, s, a, r, s2):
        a2, log_prob2 = self.actor.sample(s2)
        target = r + SAC["gamma"] * (self.slow_critic([s2, a2]) - SAC["alpha"] * log_prob2)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.critic([s, a]) - target))
        grads = tape.gradient(loss, self.critic.trainable_variables)
        self.critic_opt.apply_gradients(zip(grads, self.critic.trainable_variables))
        for slow, fast in zip(self.slow_critic.variables, self.critic.variables):
            slow.assign((1 - SAC["tau"]) * slow + SAC["tau"] * fast)
        return loss

    def learn_actor(self, s):
        with tf.GradientTape() as tape:
            action, log_prob = self.actor.sample(s)
            loss = tf.reduce_mean(SAC["alpha"] * log_prob - self.critic([s, action]))
        grads = tape.gradient(loss, self.actor.trainable_variables)
        self.actor_opt.apply_gradients(zip(grads, self.actor.trainable_variables))
        return loss


env, agent = Pendulum(seed=4), Agent()
for step in range(12):
    s, a, r, s2 = [tf.constant(t) for t in env.transitions(SAC["batch"])]
    critic_loss, actor_loss = agent.learn_critic(s, a, r, s2), agent.learn_actor(s)
    if step % 4 == 0:
        print(f"step {step:2d}  critic {float(critic_loss):.3f}  actor {float(actor_loss):.3f}")

print("torque for the last states:", agent.actor.sample(s[:3])[0].numpy().ravel())
assert np.isnan(float(actor_loss)) and np.isnan(float(critic_loss))
assert all(np.isnan(v.numpy()).any() for v in agent.actor.trainable_variables + agent.critic.trainable_variables)
