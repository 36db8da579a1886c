# case: vqvae_fit
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: argmin, stop_gradient and the straight-through sum in a VQ-VAE (order of the terms) and
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(16)


class VectorQuantizer(layers.Layer):
    def __init__(self, codes, dim, beta=0.25):
        super().__init__()
        self.beta = beta
        self.codebook = self.add_weight(shape=(codes, dim), initializer="random_uniform", name="codebook")

    def call(self, z):
        codebook = tf.convert_to_tensor(self.codebook)
        distance = (tf.reduce_sum(z ** 2, 1, keepdims=True) + tf.reduce_sum(codebook ** 2, 1)
                    - 2.0 * tf.matmul(z, codebook, transpose_b=True))
        index = tf.argmin(distance, axis=1)
        quantised = tf.gather(codebook, index)
        commitment = tf.reduce_mean((tf.stop_gradient(quantised) - z) ** 2)
        codes = tf.reduce_mean((quantised - tf.stop_gradient(z)) ** 2)
        self.add_loss(self.beta * commitment + codes)
        return z + tf.stop_gradient(quantised - z)


class VQVAE(keras.Model):
    def __init__(self, width=8, dim=4, codes=12):
        super().__init__()
        self.encoder = keras.Sequential([layers.Dense(16, activation="tanh"), layers.Dense(dim)])
        self.quantizer = VectorQuantizer(codes, dim)
        self.decoder = keras.Sequential([layers.Dense(16, activation="tanh"), layers.Dense(width)])
        self.total = keras.metrics.Mean(name="total")

    @property
    def metrics(self):
        return [self.total]

    def call(self, x):
        return self.decoder(self.quantizer(self.encoder(x)))

    def train_step(self, x):
        with tf.GradientTape() as tape:
            recon = tf.reduce_mean((self(x, training=True) - x) ** 2)
            loss = recon + sum(self.losses)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.total.update_state(loss)
        return {"total": self.total.result(), "recon": recon}


rng = np.random.default_rng(2)
centres = rng.normal(size=(6, 8))
x = (centres[rng.integers(0, 6, 300)] + 0.1 * rng.normal(size=(300, 8))).astype("float32")
model = VQVAE()
model.compile(optimizer=keras.optimizers.Adam(1e-2))
history = model.fit(x, epochs=12, batch_size=50, verbose=0)
print("total", history.history["total"][0], history.history["total"][-1])
