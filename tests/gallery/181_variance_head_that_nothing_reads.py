# case: variance_head_that_nothing_reads
# verdict: bug; static: no
# cause: variable-not-in-loss
# expect_line: 27 28 34 35 36 37
# expect_variables: log_var/*
# symptom_today: Keras warns for log_var; the autoencoder is trained with fixed noise
# exit: 0
# fix: use log_var in the sample and in the divergence
# seen: variational autoencoders whose divergence term was simplified
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(11)


class VAE(keras.Model):
    def __init__(self, latent=2):
        super().__init__()
        self.trunk = keras.layers.Dense(16, activation="relu", name="trunk")
        self.mean = keras.layers.Dense(latent, name="mean")
        self.log_var = keras.layers.Dense(latent, name="log_var")
        self.decoder = keras.layers.Dense(8, name="decoder")

    def call(self, x):
        h = self.trunk(x)
        mean, log_var = self.mean(h), self.log_var(h)
        z = mean + 0.1 * tf.random.normal(tf.shape(mean))
        return self.decoder(z), mean, log_var

    def train_step(self, x):
        with tf.GradientTape() as tape:
            decoded, mean, log_var = self(x, training=True)
            divergence = 0.5 * tf.reduce_mean(tf.reduce_sum(mean**2, axis=-1))
            loss = tf.reduce_mean(tf.reduce_sum((decoded - x) ** 2, axis=-1)) + divergence
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


vae = VAE()
vae.compile(optimizer=keras.optimizers.Adam(0.01))
x = np.random.default_rng(11).normal(size=(64, 8)).astype("float32")
vae(x[:2])
before = vae.log_var.kernel.numpy()
vae.fit(x, epochs=2, verbose=0)
assert np.array_equal(before, vae.log_var.kernel.numpy())
