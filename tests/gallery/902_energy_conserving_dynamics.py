# case: energy_conserving_dynamics
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: Hamiltonian networks: the loss is made of a gradient
import argparse

import keras
import numpy as np
import tensorflow as tf


def build(width):
    return keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(width, activation="tanh"),
                             keras.layers.Dense(width, activation="tanh"), keras.layers.Dense(1, use_bias=False)])


def field(energy, state):
    with tf.GradientTape() as tape:
        tape.watch(state)
        h = energy(state)
    dh = tape.gradient(h, state)
    return tf.stack([dh[:, 1], -dh[:, 0]], axis=1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--steps", type=int, default=30)
    args = parser.parse_args([])
    keras.utils.set_random_seed(1)
    energy, opt = build(args.width), keras.optimizers.Adam(0.01)
    angle = np.random.default_rng(1).uniform(0, 2 * np.pi, size=(64, 1))
    state = tf.constant(np.hstack([np.cos(angle), np.sin(angle)]), tf.float32)
    change = tf.stack([state[:, 1], -state[:, 0]], axis=1)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((field(energy, state) - change) ** 2)
        grads = tape.gradient(loss, energy.trainable_variables)
        opt.apply_gradients(zip(grads, energy.trainable_variables))
        return loss

    losses = [float(step()) for _ in range(args.steps)]
    print(losses[0], losses[-1])
    assert losses[-1] < losses[0]


if __name__ == "__main__":
    main()
