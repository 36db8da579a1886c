# case: vq_vae
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains; argmin and stop_gradient are the method
# exit: 0
# fix: -
# source: own; vector-quantised autoencoder as in the Keras example
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class VectorQuantizer(keras.layers.Layer):
    def __init__(self, entries, dim, beta=0.25):
        super().__init__()
        self.entries, self.dim, self.beta = entries, dim, beta

    def build(self, shape):
        self.codebook = self.add_weight(shape=(self.entries, self.dim), initializer="random_uniform", name="codebook")

    def call(self, z):
        book = tf.convert_to_tensor(self.codebook)
        distance = tf.reduce_sum(tf.square(z[:, None, :] - book[None, :, :]), axis=-1)
        nearest = tf.gather(book, tf.argmin(distance, axis=1))
        commitment = tf.reduce_mean(tf.square(tf.stop_gradient(nearest) - z))
        codebook = tf.reduce_mean(tf.square(nearest - tf.stop_gradient(z)))
        self.add_loss(self.beta * commitment + codebook)
        return z + tf.stop_gradient(nearest - z)


inputs = keras.Input((6,))
code = VectorQuantizer(8, 3)(keras.layers.Dense(3)(inputs))
model = keras.Model(inputs, keras.layers.Dense(6)(code))
model.compile(keras.optimizers.Adam(2e-2), "mse")
rng = np.random.default_rng(0)
centres = rng.normal(size=(5, 6))
x = (centres[rng.integers(0, 5, 120)] + 0.05 * rng.normal(size=(120, 6))).astype("float32")
log = model.fit(x, x, batch_size=30, epochs=15, verbose=0).history["loss"]
assert log[-1] < 0.8 * log[0]
print("ok", log[0], log[-1])
