# case: action_scaler_in_tensors_for_the_critic
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(28)

CONFIG = {
    "torque": (-2.0, 2.0),
    "gamma": 0.9,
    "tau": 0.02,
    "actor_lr": 5e-3,
    "critic_lr": 4e-3,
    "raw_action_penalty": 2e-2,
    "explore": 0.4,
    "batch": 64,
    "iterations": 80,
}


class Pendulums:
    """A batch of damped pendulums that are to be held at an angle given in the observation."""

    def __init__(self, n, seed):
        self.rng = np.random.default_rng(seed)
        self.state = self.rng.uniform(-1, 1, (n, 3)).astype("float32")

    def step(self, torque):
        angle, speed, goal = self.state.T
        speed = 0.9 * speed + 0.2 * (torque[:, 0] - np.sin(angle))
        angle = angle + 0.2 * speed
        reward = -((angle - goal) ** 2) - 0.05 * speed ** 2
        fresh = self.rng.random(len(angle)) < 0.05
        self.state = np.stack([angle, speed, goal], axis=1).astype("float32")
        self.state[fresh] = self.rng.uniform(-1, 1, (int(fresh.sum()), 3))
        return reward.astype("float32")


class ActionScaler:
    """Between the actor's [-1, 1] and the units of the environment."""

    def __init__(self, low, high):
        self.low, self.high = np.float32(low), np.float32(high)

    def to_env(self, action):
        unit = (np.clip(action, -1.0, 1.0) + 1.0) / 2.0
        return self.low + unit * (self.high - self.low)

    def to_critic(self, action):
        unit = (tf.clip_by_value(action, -1.0, 1.0) + 1.0) / 2.0
        return self.low + unit * (self.high - self.low)

    def from_env(self, torque):
        return 2.0 * (torque - self.low) / (self.high - self.low) - 1.0


class Actor(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.inner = [layers.Dense(32, activation="swish", name=f"inner{i}") for i in (1, 2)]
        self.raw = layers.Dense(1, kernel_initializer=keras.initializers.RandomNormal(stddev=0.5, seed=1), name="raw")

    def call(self, state):
        for layer in self.inner:
            state = layer(state)
        raw = self.raw(state)
        return tf.tanh(raw), raw


def make_critic(name):
    h = both = keras.Input((4,))
    for i in range(2):
        h = layers.Dense(48, activation="swish", name=f"{name}_fc{i}")(h)
    return keras.Model(both, layers.Dense(1, name=f"{name}_q")(h), name=name)


class DDPG:
    def __init__(self, config):
        self.c = config
        self.scaler = ActionScaler(*config["torque"])
        self.actor, self.slow_actor = Actor(name="actor"), Actor(name="slow_actor")
        self.critic, self.slow_critic = make_critic("critic"), make_critic("slow_critic")
        for net in (self.actor, self.slow_actor):
            net(np.zeros((1, 3), "float32"))
        self.slow_actor.set_weights(self.actor.get_weights())
        self.slow_critic.set_weights(self.critic.get_weights())
        self.actor_opt = keras.optimizers.Adam(config["actor_lr"])
        self.critic_opt = keras.optimizers.Adam(config["critic_lr"])

    def act(self, state, rng):
        action = self.actor(state)[0].numpy()
        return self.scaler.to_env(action + self.c["explore"] * rng.normal(size=action.shape).astype("float32"))

    def actor_terms(self, state):
        action, raw = self.actor(state)
        q = self.critic(tf.concat([state, self.scaler.to_critic(action)], axis=1))
        return -tf.reduce_mean(q), self.c["raw_action_penalty"] * tf.reduce_mean(raw ** 2)

    def learn(self, state, torque, reward, following):
        c = self.c
        best = self.slow_critic(tf.concat([following, self.scaler.to_env(self.slow_actor(following)[0])], axis=1))
        goal = reward[:, None] + c["gamma"] * best
        with tf.GradientTape() as tape:
            critic_loss = tf.reduce_mean((self.critic(tf.concat([state, torque], axis=1)) - goal) ** 2)
        grads = tape.gradient(critic_loss, self.critic.trainable_variables)
        self.critic_opt.apply_gradients(zip(grads, self.critic.trainable_variables))
        with tf.GradientTape() as tape:
            actor_loss = tf.add_n(self.actor_terms(state))
        grads = tape.gradient(actor_loss, self.actor.trainable_variables)
        self.actor_opt.apply_gradients(zip(grads, self.actor.trainable_variables))
        for slow, fast in ((self.slow_actor, self.actor), (self.slow_critic, self.critic)):
            for s, f in zip(slow.weights, fast.weights):
                s.assign((1.0 - c["tau"]) * s + c["tau"] * f)
        return float(critic_loss), float(actor_loss)


agent, env, rng = DDPG(CONFIG), Pendulums(32, seed=4), np.random.default_rng(5)
memory, sizes = [], []
start = [v.numpy() for v in agent.actor.trainable_variables]
for i in range(CONFIG["iterations"]):
    state = env.state.copy()
    torque = agent.act(state, rng)
    reward = env.step(torque)
    memory.extend(zip(state, torque, reward, env.state.copy()))
    rows = [memory[k] for k in rng.integers(0, len(memory), CONFIG["batch"])]
    critic_loss, actor_loss = agent.learn(*(tf.constant(np.stack(column)) for column in zip(*rows)))
    sizes.append(float(tf.reduce_mean(tf.abs(agent.actor(state)[0]))))
    if i % 16 == 0:
        print(f"{i:4d}  critic {critic_loss:.4f}  actor {actor_loss:.4f}  reward {reward.mean():.3f}  |action| {sizes[-1]:.3f}")

with tf.GradientTape(persistent=True) as probe:
    minus_q, penalty = agent.actor_terms(tf.constant(state))
variables = agent.actor.trainable_variables
assert all(g is not None for g in probe.gradient(minus_q, variables))
assert all(not np.allclose(s, v.numpy()) for s, v in zip(start, variables))
