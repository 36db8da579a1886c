# case: kl_warmup_graph
# verdict: bug
# cause: python-state-in-graph
# expect_line: 39 46
# expect_variables: -
# symptom_today: the annealed KL weight stays at the value of the first call
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(17)


class AnnealedVAE:
    def __init__(self, width, latent=2):
        self.encoder = keras.Sequential([keras.Input((width,)), layers.Dense(16, activation="tanh"), layers.Dense(2 * latent)])
        self.decoder = keras.Sequential([keras.Input((latent,)), layers.Dense(16, activation="tanh"), layers.Dense(width)])
        self.optimizer = keras.optimizers.Adam(5e-3)
        self.beta = 0.0

    @property
    def weights(self):
        return self.encoder.trainable_variables + self.decoder.trainable_variables

    def terms(self, x):
        mean, logvar = tf.split(self.encoder(x), 2, axis=-1)
        z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean), seed=3)
        recon = tf.reduce_mean(tf.reduce_sum(tf.square(self.decoder(z) - x), -1))
        kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1.0 + logvar - tf.square(mean) - tf.exp(logvar), -1))
        return recon, kl

    @tf.function
    def train_step(self, x):
        with tf.GradientTape() as tape:
            recon, kl = self.terms(x)
            loss = recon + self.beta * kl
        grads = tape.gradient(loss, self.weights)
        self.optimizer.apply_gradients(zip(grads, self.weights))
        return recon, kl

    def fit(self, data, epochs, warmup):
        for epoch in range(epochs):
            self.beta = min(1.0, epoch / warmup)
            for x in data:
                recon, kl = self.train_step(x)
            print(epoch, "beta", self.beta, "recon", float(recon), "kl", float(kl))


rng = np.random.default_rng(0)
x = (rng.normal(size=(320, 2)) @ rng.normal(size=(2, 8))).astype("float32")
AnnealedVAE(8).fit(tf.data.Dataset.from_tensor_slices(x).batch(32), epochs=8, warmup=4)
