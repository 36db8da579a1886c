# case: cluster_potential_training
# verdict: bug
# cause: outside-tape
# expect_line: 70 74 83
# expect_variables: *
# symptom_today: no error, every weight has a gradient; the force error hardly falls, and the weight of the force term changes nothing
# exit: 0
# fix: let the outer tape record the inner gradient (drop the stop_recording block)
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

ATOMS, FRAMES = 5, 64
SENDER, RECEIVER = np.array([(i, j) for i in range(ATOMS) for j in range(ATOMS) if i != j]).T


def lennard_jones(positions):
    """Energies and forces of small clusters in reduced units."""
    delta = positions[:, RECEIVER] - positions[:, SENDER]
    r2 = (delta ** 2).sum(-1)
    s6 = 1.0 / r2 ** 3
    energy = 2.0 * (s6 ** 2 - s6).sum(1)  # each pair is there twice
    pull = (24.0 * (2 * s6 ** 2 - s6) / r2)[..., None] * delta
    force = np.zeros_like(positions)
    for e, j in enumerate(RECEIVER):
        force[:, j] += pull[:, e]
    return energy, force


def trajectory(n, seed):
    rng = np.random.default_rng(seed)
    base = np.array([[0, 0, 0], [1.12, 0, 0], [0.56, 0.97, 0], [0.56, 0.32, 0.91], [0.56, 0.32, -0.91]])
    positions = base + 0.05 * rng.normal(size=(n, ATOMS, 3))
    energy, force = lennard_jones(positions)
    return [a.astype("float32") for a in (positions, energy, force)]


class PairMessages(layers.Layer):
    """Radial features of the edges, summed at the receiving atoms."""

    def __init__(self, width, n_radial=8, cutoff=2.2, **kwargs):
        super().__init__(**kwargs)
        self.centres = np.linspace(0.8, cutoff, n_radial).astype("float32")
        self.filter = layers.Dense(width, activation="swish", name="filter")

    def call(self, positions):
        delta = tf.gather(positions, RECEIVER, axis=1) - tf.gather(positions, SENDER, axis=1)
        r = tf.sqrt(tf.reduce_sum(delta ** 2, axis=-1, keepdims=True))
        edges = self.filter(tf.exp(-12.0 * (r - self.centres) ** 2))
        summed = tf.math.unsorted_segment_sum(tf.transpose(edges, (1, 0, 2)), RECEIVER, ATOMS)
        return tf.transpose(summed, (1, 0, 2))


class Potential(keras.Model):
    def __init__(self, width=24, **kwargs):
        super().__init__(**kwargs)
        self.messages = PairMessages(width, name="messages")
        self.hidden = layers.Dense(width, activation="swish", name="hidden")
        self.atomic = layers.Dense(1, name="atomic_energy")

    def call(self, positions):
        return tf.reduce_sum(self.atomic(self.hidden(self.messages(positions))), axis=(1, 2))


def forces(potential, positions, outer):
    """Minus the slope of the energy. The outer tape need not see the inner one at work, that would only cost memory."""
    with outer.stop_recording():
        with tf.GradientTape() as inner:
            inner.watch(positions)
            energy = potential(positions)
        return -inner.gradient(energy, positions)


def make_step(potential, optimizer, force_weight):
    @tf.function
    def step(positions, energy, force):
        with tf.GradientTape() as tape:
            predicted = potential(positions)
            loss_e = tf.reduce_mean((predicted - energy) ** 2)
            loss_f = tf.reduce_mean((forces(potential, positions, tape) - force) ** 2)
            loss = loss_e + force_weight * loss_f
        grads = tape.gradient(loss, potential.trainable_variables)
        optimizer.apply_gradients(zip(grads, potential.trainable_variables))
        return loss_e, loss_f

    return step


def train(force_weight, epochs=8, verbose=True):
    keras.utils.set_random_seed(6)
    positions, energy, force = trajectory(FRAMES, seed=1)
    potential = Potential(name="potential")
    potential(positions[:1])
    step = make_step(potential, keras.optimizers.Adam(1e-2), force_weight)
    data = tf.data.Dataset.from_tensor_slices((positions, energy, force)).batch(16)
    for epoch in range(epochs):
        logs = np.mean([[float(v) for v in step(*batch)] for batch in data], axis=0)
        if verbose and epoch % 4 == 3:
            print(f"force weight {force_weight:6.1f}  epoch {epoch:3d}  energy mse {logs[0]:8.4f}  force mse {logs[1]:10.3f}")
    return potential, logs


potential, logs = train(force_weight=10.0)
other, other_logs = train(force_weight=0.0)
variance = float(np.var(trajectory(FRAMES, seed=1)[2]))
print(f"variance of the forces {variance:.2f}, left unexplained {logs[1]:.2f}")

assert all(np.array_equal(a.numpy(), b.numpy()) for a, b in zip(potential.weights, other.weights))
assert logs[1] > 0.5 * variance
