# case: ebm_langevin_replay_ok
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: the energy of data falls well below that of background points, chain samples end up in the blobs, all weights of the energy net move
# exit: 0
# fix: -
# source: energy-based model tutorials (TorchEBM sampler pages) and questions why Langevin samples carry no gradient; that is intended
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(6)
CHAINS, LANGEVIN_STEPS, STEP = 96, 10, 0.04
NOISE = (2.0 * STEP) ** 0.5


CENTRES = np.array([[0.9, 0.3], [-0.9, -0.3]])


def blobs(n, rng):
    return (CENTRES[rng.integers(0, 2, n)] + 0.35 * rng.normal(size=(n, 2))).astype("float32")


def to_nearest(x):
    return float(np.linalg.norm(x[:, None] - CENTRES[None], axis=2).min(axis=1).mean())


energy = keras.Sequential([
    keras.Input((2,)),
    layers.Dense(48, activation="swish"),
    layers.Dense(48, activation="swish"),
    layers.Dense(1),
], name="energy")
optim = keras.optimizers.Adam(3e-3, beta_1=0.0)


@tf.function
def langevin(x):
    for _ in tf.range(LANGEVIN_STEPS):
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(x)
            e = tf.reduce_sum(energy(x))
        push = tf.clip_by_value(tape.gradient(e, x), -8.0, 8.0)
        x = x - STEP * push + NOISE * tf.random.normal(tf.shape(x))
        x = tf.clip_by_value(x, -2.5, 2.5)
    return x


@tf.function
def contrast(real, chain):
    fake = tf.stop_gradient(langevin(chain))
    with tf.GradientTape() as tape:
        e_real, e_fake = energy(real), energy(fake)
        gap = tf.reduce_mean(e_real) - tf.reduce_mean(e_fake)
        keep_small = tf.reduce_mean(tf.square(e_real) + tf.square(e_fake))
        loss = gap + 0.02 * keep_small
    grads = tape.gradient(loss, energy.trainable_variables)
    optim.apply_gradients(zip(grads, energy.trainable_variables))
    return fake, gap


class ReplayBuffer:
    """Old chains are continued; one in twenty starts afresh."""

    def __init__(self, size, rng):
        self.rng = rng
        self.store = rng.uniform(-2, 2, (size, 2)).astype("float32")

    def draw(self, n):
        self.rows = self.rng.choice(len(self.store), n, replace=False)
        x = self.store[self.rows].copy()
        fresh = self.rng.random(n) < 0.05
        x[fresh] = self.rng.uniform(-2, 2, (int(fresh.sum()), 2))
        return x

    def put_back(self, x):
        self.store[self.rows] = x


def separation():
    on = energy(blobs(512, np.random.default_rng(100))).numpy().mean()
    off = energy(np.random.default_rng(101).uniform(-2, 2, (512, 2)).astype("float32")).numpy().mean()
    return float(off - on)


rng = np.random.default_rng(13)
buffer = ReplayBuffer(256, rng)
initial = [v.numpy().copy() for v in energy.trainable_variables]
sep0 = separation()
for it in range(250):
    chain, gap = contrast(tf.constant(blobs(CHAINS, rng)), tf.constant(buffer.draw(CHAINS)))
    buffer.put_back(chain.numpy())
    if it % 100 == 0:
        print(it, "gap", round(float(gap), 3), "separation", round(separation(), 3))

samples = rng.uniform(-2, 2, (CHAINS, 2)).astype("float32")
spread0 = to_nearest(samples)
for _ in range(20):
    samples = langevin(tf.constant(samples)).numpy()
spread = to_nearest(samples)
print("chains in the buffer", to_nearest(buffer.store))
print("separation", sep0, "->", separation(), "| distance from the blobs", spread0, "->", spread)
assert separation() > sep0 + 1.0
assert spread < 0.65 * spread0
for v, old in zip(energy.trainable_variables, initial):
    assert np.abs(v.numpy() - old).max() > 1e-3, v.path
