# case: noisy_dense_sum_in_build
# verdict: bug; static: no
# cause: outside-tape
# expect_line: 28
# expect_variables: noisy/mu, noisy/sigma
# symptom_today: UserWarning: Gradients do not exist for variables ['sequential/noisy/mu', 'sequential/noisy/sigma'] when minimizing the loss
# exit: 0
# fix: compute mu + sigma * noise in call()
# source: tensorflow/tensorflow#32729 (NoisyDense: kernel = mu + sigma * eps in build has None for gradient)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(4)


class NoisyDense(keras.layers.Layer):
    def __init__(self, units, std=0.4, **kw):
        super().__init__(**kw)
        self.units, self.std = units, std

    def build(self, shape):
        size = (shape[-1], self.units)
        self.mu = self.add_weight(shape=size, initializer="glorot_uniform", name="mu")
        self.sigma = self.add_weight(shape=size, initializer=keras.initializers.Constant(self.std), name="sigma")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")
        noise = tf.random.normal(size, seed=7)
        self.noisy_kernel = self.mu + self.sigma * noise

    def call(self, x):
        return tf.matmul(x, self.noisy_kernel) + self.bias


q_net = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(12, activation="relu", name="torso"),
                          NoisyDense(3, name="noisy")])
q_net.compile(optimizer=keras.optimizers.Adam(5e-3), loss="huber")

rng = np.random.default_rng(1)
states = rng.normal(size=(64, 6)).astype("float32")
targets = rng.normal(size=(64, 3)).astype("float32")
mu_before = q_net.get_layer("noisy").mu.numpy().copy()
print(q_net.fit(states, targets, epochs=3, verbose=0).history["loss"])
print("mu moved:", not np.array_equal(mu_before, q_net.get_layer("noisy").mu.numpy()))
