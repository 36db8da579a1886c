# case: vector_quantised_with_commitment
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: VQ-VAE: straight-through codes, a codebook loss and a commitment loss, regularised convolutions
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(31)
CODES, DIM = 8, 4
L2 = keras.regularizers.L2(1e-4)


class VQVAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential(
            [layers.Input((16, 1)), layers.Conv1D(8, 4, strides=2, padding="same", activation="gelu", kernel_regularizer=L2),
             layers.Conv1D(DIM, 4, strides=2, padding="same")], name="encoder")
        self.decoder = keras.Sequential(
            [layers.Input((4, DIM)),
             layers.Conv1DTranspose(8, 4, strides=2, padding="same", activation="gelu", kernel_regularizer=L2),
             layers.Conv1DTranspose(1, 4, strides=2, padding="same")], name="decoder")
        start = keras.initializers.RandomNormal(0.0, 0.3)
        self.codebook = self.add_weight(shape=(CODES, DIM), initializer=start, name="codebook")
        self.mean_loss = keras.metrics.Mean(name="loss")

    def quantise(self, z):
        codebook = tf.convert_to_tensor(self.codebook)
        apart = tf.reduce_sum(tf.square(z[..., None, :] - codebook), axis=-1)
        nearest = tf.one_hot(tf.argmin(apart, axis=-1), CODES)
        return tf.einsum("btk,kd->btd", nearest, codebook)

    def call(self, x, training=False):
        return self.decoder(self.quantise(self.encoder(x, training=training)), training=training)

    def train_step(self, x):
        with tf.GradientTape() as tape:
            z = self.encoder(x, training=True)
            q = self.quantise(z)
            straight = z + tf.stop_gradient(q - z)
            rebuilt = self.decoder(straight, training=True)
            reconstruction = tf.reduce_mean(tf.square(rebuilt - x))
            codebook_loss = tf.reduce_mean(tf.square(tf.stop_gradient(z) - q))
            commitment = tf.reduce_mean(tf.square(z - tf.stop_gradient(q)))
            loss = reconstruction + codebook_loss + 0.25 * commitment + tf.add_n(self.losses)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.mean_loss.update_state(loss)
        return {"loss": self.mean_loss.result(), "reconstruction": reconstruction}


rng = np.random.default_rng(31)
waves = np.sin(np.linspace(0, 6, 16)[None, :, None] * rng.uniform(0.5, 2, size=(96, 1, 1))).astype("float32")
model = VQVAE()
model.compile(optimizer=keras.optimizers.Adam(5e-3))
history = model.fit(waves, epochs=5, batch_size=24, verbose=0).history
print(history["loss"])
assert history["loss"][-1] < history["loss"][0]
