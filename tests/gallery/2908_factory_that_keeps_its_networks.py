# case: dqn_factory_hands_out_same_net
# verdict: bug
# cause: aliased-network
# expect_line: 22 24 25 30 50 51 56 60
# expect_variables: -
# symptom_today: the target network moves with every gradient step, and the copy every 25 steps does nothing, since both names are one model
# exit: 0
# fix: let the factory build a new model for the target network and copy the weights over with set_weights
# source: GitHub TJ1812 traffic-signal issue 3 and AndreaVidali Deep-QLearning-Agent issue 31 (Q network and target network turn out to be the same network)
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(21)
ROOMS, MOVES, GAMMA = 8, 2, 0.9
_zoo = {}


def q_net(obs_dim, n_moves, hidden=32):
    key = (obs_dim, n_moves, hidden)
    if key not in _zoo:
        _zoo[key] = keras.Sequential([
            keras.Input((obs_dim,)),
            keras.layers.Dense(hidden, activation="relu"),
            keras.layers.Dense(n_moves),
        ])
    return _zoo[key]


class Corridor:
    """Walk left or right; the cheese is in the last room."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def collect(self, n):
        s = self.rng.integers(0, ROOMS - 1, n)
        a = self.rng.integers(0, MOVES, n)
        s2 = np.clip(s + np.where(a == 1, 1, -1), 0, ROOMS - 1)
        done = (s2 == ROOMS - 1).astype("float32")
        eye = np.eye(ROOMS, dtype="float32")
        return eye[s], a.astype("int32"), done.copy(), eye[s2], done


class Agent:
    def __init__(self):
        self.online = q_net(ROOMS, MOVES)
        self.target = q_net(ROOMS, MOVES)
        self.opt = keras.optimizers.Adam(5e-3)
        self.huber = keras.losses.Huber()

    def sync(self):
        self.target.set_weights(self.online.get_weights())

    @tf.function
    def learn(self, s, a, r, s2, done):
        bootstrap = tf.reduce_max(self.target(s2), axis=1)
        y = r + GAMMA * (1.0 - done) * bootstrap
        with tf.GradientTape() as tape:
            q = tf.gather(self.online(s), a, axis=1, batch_dims=1)
            loss = self.huber(y, q)
        grads = tape.gradient(loss, self.online.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.online.trainable_variables))
        return loss


env, agent = Corridor(9), Agent()
memory = env.collect(2000)
pick = np.random.default_rng(1)
drift_between_syncs = []
for step in range(400):
    if step % 25 == 0:
        agent.sync()
        frozen = [w.copy() for w in agent.target.get_weights()]
    rows = pick.integers(0, 2000, 64)
    loss = agent.learn(*[tf.constant(col[rows]) for col in memory])
    if step % 25 == 24:
        drift_between_syncs.append(max(np.abs(x - y).max() for x, y in zip(frozen, agent.target.get_weights())))
    if step % 100 == 0:
        print("step", step, "huber", float(loss))

print("target moved between two copies by", np.round(drift_between_syncs[:6], 4))
assert agent.target is agent.online
assert min(drift_between_syncs[:5]) > 1e-3
