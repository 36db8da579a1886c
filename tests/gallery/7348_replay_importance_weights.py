# case: replay_importance_weights
# verdict: bug
# cause: loss-shape-broadcast
# expect_line: 88
# expect_variables: -
# symptom_today: none; the Q-network trains, but the importance weights of the prioritised replay have no effect on which rows count
# exit: 0
# fix: squeeze the TD error to (batch,) before it is weighted, or give the weights a last axis of one
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
from dataclasses import dataclass, field
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(31)


@dataclass
class Settings:
    gamma: float = 0.95
    lr: float = 2e-3
    batch: int = 64
    sync_every: int = 40
    updates: int = 200
    alpha: float = 0.7
    beta: float = 0.6
    hidden: tuple = field(default=(32, 32))


class Corridor:
    """Nine cells, a prize at the right end, a small trap in the middle."""

    cells, actions = 9, 2

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.reset()

    def reset(self):
        self.at = int(self.rng.integers(0, self.cells - 1))
        return self.observe()

    def observe(self):
        return np.eye(self.cells, dtype="float32")[self.at]

    def step(self, action):
        slip = self.rng.random() < 0.1
        self.at = int(np.clip(self.at + (1 if (action == 1) != slip else -1), 0, self.cells - 1))
        reward = {self.cells - 1: 1.0, 4: -0.2}.get(self.at, -0.01)
        return self.observe(), reward, self.at == self.cells - 1


class PrioritisedReplay:
    def __init__(self, s):
        self.s, self.rows, self.priority = s, [], []

    def add(self, *row):
        self.rows.append(row)
        self.priority.append(max(self.priority, default=1.0))

    def sample(self, rng):
        p = np.asarray(self.priority) ** self.s.alpha
        p /= p.sum()
        index = rng.choice(len(self.rows), self.s.batch, p=p)
        weight = (len(self.rows) * p[index]) ** -self.s.beta
        columns = [np.asarray(c, "float32") for c in zip(*[self.rows[i] for i in index])]
        return index, columns, (weight / weight.max()).astype("float32")

    def reprioritise(self, index, td):
        for i, error in zip(index, td):
            self.priority[i] = abs(float(error)) + 1e-3


def q_network(s, name):
    x = inputs = keras.Input((Corridor.cells,))
    for k, n in enumerate(s.hidden):
        x = layers.Dense(n, activation="elu", name=f"{name}_{k}")(x)
    return keras.Model(inputs, layers.Dense(Corridor.actions, name=f"{name}_q")(x), name=name)


def weighted_huber(td, weight=None, delta=1.0):
    size = tf.abs(td)
    huber = tf.where(size < delta, 0.5 * td ** 2, delta * (size - 0.5 * delta))
    if weight is None:
        return tf.reduce_mean(huber)
    return tf.reduce_mean(weight * huber)


s = Settings()
online, target = q_network(s, "online"), q_network(s, "target")
target.set_weights(online.get_weights())
optimizer = keras.optimizers.Adam(s.lr)


def td_error(obs, action, reward, following, done):
    best = tf.reduce_max(target(following), axis=1, keepdims=True)
    goal = reward[:, None] + s.gamma * (1.0 - done[:, None]) * best
    chosen = tf.gather(online(obs), tf.cast(action, tf.int32)[:, None], axis=1, batch_dims=1)
    return tf.stop_gradient(goal) - chosen


@tf.function
def learn(columns, weight):
    with tf.GradientTape() as tape:
        td = td_error(*columns)
        loss = weighted_huber(td, weight)
    grads = tape.gradient(loss, online.trainable_variables)
    optimizer.apply_gradients(zip(grads, online.trainable_variables))
    return loss, tf.squeeze(td, 1)


env, replay, rng = Corridor(1), PrioritisedReplay(s), np.random.default_rng(2)
obs = env.reset()
for _ in range(600):
    action = int(rng.integers(0, 2))
    following, reward, done = env.step(action)
    replay.add(obs, action, reward, following, float(done))
    obs = env.reset() if done else following

for update in range(s.updates):
    index, columns, weight = replay.sample(rng)
    loss, td = learn([tf.constant(c) for c in columns], tf.constant(weight))
    replay.reprioritise(index, td.numpy())
    if update % s.sync_every == 0:
        target.set_weights(online.get_weights())
        print(f"update {update:3d}  loss {float(loss):.5f}  weights {weight.min():.2f} .. {weight.max():.2f}")


def gradient_of(loss_of):
    with tf.GradientTape() as tape:
        loss = loss_of(td_error(*[tf.constant(c) for c in columns]))
    return np.concatenate([g.numpy().ravel() for g in tape.gradient(loss, online.trainable_variables)])


used = gradient_of(lambda td: weighted_huber(td, weight))
meant = gradient_of(lambda td: weighted_huber(td[:, 0], weight))
plain = gradient_of(weighted_huber)
print("relative error of the gradient: %.2f" % (np.linalg.norm(used - meant) / np.linalg.norm(meant)))
assert np.allclose(used, weight.mean() * plain, rtol=1e-3, atol=1e-6), "each row has the same weight"
assert np.linalg.norm(used - meant) > 0.1 * np.linalg.norm(meant)
