# case: spectral_normalisation
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: power iteration state updated in call
import keras
import numpy as np
import tensorflow as tf


class SpectralDense(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), name="kernel")
        self.u = self.add_weight(shape=(1, self.units), initializer="random_normal", trainable=False, name="u")

    def call(self, x, training=False):
        u = tf.convert_to_tensor(self.u)
        v = tf.math.l2_normalize(tf.matmul(u, self.kernel, transpose_b=True))
        u = tf.math.l2_normalize(tf.matmul(v, self.kernel))
        u, v = tf.stop_gradient(u), tf.stop_gradient(v)
        if training:
            self.u.assign(u)
        sigma = tf.reduce_sum(tf.matmul(v, self.kernel) * u)
        return tf.matmul(x, self.kernel / sigma)


keras.utils.set_random_seed(4)
net = keras.Sequential([keras.layers.Input((6,)), SpectralDense(8), keras.layers.LeakyReLU(), SpectralDense(1)])
net.compile(keras.optimizers.Adam(0.02), "mse")
x = np.random.default_rng(0).normal(size=(64, 6)).astype("float32")
log = net.fit(x, 0.1 * x[:, :1], epochs=5, verbose=0).history["loss"]
print(log)
assert log[-1] < log[0]
