# case: codebook_with_straight_through
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: VQ-VAE done right
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


class Quantise(keras.layers.Layer):
    def __init__(self, codes, dim, commitment=0.25):
        super().__init__()
        self.codes, self.dim, self.commitment = codes, dim, commitment

    def build(self, shape):
        self.book = self.add_weight(shape=(self.codes, self.dim), initializer="random_normal", name="book")

    def call(self, z):
        distance = tf.reduce_sum((z[:, None] - self.book[None]) ** 2, -1)
        q = tf.gather(self.book, tf.argmin(distance, -1))
        self.add_loss(self.commitment * tf.reduce_mean((tf.stop_gradient(q) - z) ** 2))
        self.add_loss(tf.reduce_mean((q - tf.stop_gradient(z)) ** 2))
        return z + tf.stop_gradient(q - z)


x_in = keras.Input((6,))
z = keras.layers.Dense(3, name="encoder")(x_in)
net = keras.Model(x_in, keras.layers.Dense(6, name="decoder")(Quantise(8, 3)(z)))
net.compile(keras.optimizers.Adam(0.02), "mse")
x = np.random.default_rng(1).normal(size=(96, 6)).astype("float32")
before = [w.copy() for w in net.get_weights()]
log = net.fit(x, x, epochs=4, verbose=0).history["loss"]
print(log)
assert log[-1] < log[0] and not any(np.array_equal(a, b) for a, b in zip(before, net.get_weights()))
