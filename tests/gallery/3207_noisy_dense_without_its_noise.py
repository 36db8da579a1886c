# case: noisy_dense_without_its_noise
# verdict: bug; static: yes
# cause: sampling-noise-unused | variable-not-in-loss
# expect_line: 32 30 31
# expect_variables: noisy/sigma_w (no gradient)
# symptom_today: warning: Gradients do not exist for variables ['.../sigma_w']; the agent never explores
# exit: 0
# fix: return ops.matmul(x, kernel) + self.bias
# source: derived from LuEE-C/Noisy-A3C-Keras#1 and tensorflow/addons PR#2099 (noisy dense layer: output = x (mu + sigma * eps) + b), twairball/keras_lstm_vae#1 (drawn noise not used)
import numpy as np
import keras
from keras import ops

keras.utils.set_random_seed(0)


class NoisyDense(keras.layers.Layer):
    def __init__(self, units, sigma=0.5, **kwargs):
        super().__init__(**kwargs)
        self.units, self.sigma = units, sigma
        self.seeds = keras.random.SeedGenerator(3)

    def build(self, shape):
        size = (shape[-1], self.units)
        self.mu_w = self.add_weight(shape=size, initializer="glorot_uniform", name="mu_w")
        self.sigma_w = self.add_weight(shape=size, initializer=keras.initializers.Constant(self.sigma / shape[-1] ** 0.5), name="sigma_w")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")

    def call(self, x):
        eps = keras.random.normal(ops.shape(self.mu_w), seed=self.seeds)
        kernel = self.mu_w + self.sigma_w * eps
        return ops.matmul(x, self.mu_w) + self.bias


q_net = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(12, activation="relu"), NoisyDense(2, name="noisy")])
q_net.compile(keras.optimizers.Adam(1e-2), "huber")
rng = np.random.default_rng(0)
states, goals = rng.normal(size=(64, 4)).astype("float32"), rng.normal(size=(64, 2)).astype("float32")
q_net.fit(states, goals, batch_size=16, epochs=2, verbose=0)
a, b = q_net(states[:1]), q_net(states[:1])
print("two passes equal:", bool(np.array_equal(a, b)), "sigma still at its start:", bool(np.allclose(q_net.get_layer("noisy").sigma_w.numpy(), 0.5 / 12 ** 0.5)))
assert np.array_equal(a, b)
