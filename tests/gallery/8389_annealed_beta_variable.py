# case: annealed_beta_variable
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: the KL weight kept in a variable so that a compiled loss sees it change, the solution in
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(27)


class BetaVAE(tf.Module):
    def __init__(self, width, latent=2):
        super().__init__()
        self.encoder = keras.Sequential([keras.Input((width,)), layers.Dense(16, activation="tanh"), layers.Dense(2 * latent)])
        self.decoder = keras.Sequential([keras.Input((latent,)), layers.Dense(16, activation="tanh"), layers.Dense(width)])
        self.beta = tf.Variable(0.0, trainable=False, name="beta")
        self.optimizer = keras.optimizers.Adam(5e-3)
        self.params = self.encoder.trainable_variables + self.decoder.trainable_variables

    def sample(self, mean, logvar):
        return mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean), seed=4)

    @tf.function
    def train_step(self, x):
        with tf.GradientTape() as tape:
            mean, logvar = tf.split(self.encoder(x), 2, axis=-1)
            recon = tf.reduce_mean(tf.reduce_sum(tf.square(self.decoder(self.sample(mean, logvar)) - x), -1))
            kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1.0 + logvar - tf.square(mean) - tf.exp(logvar), -1))
            loss = recon + self.beta * kl
        grads = tape.gradient(loss, self.params)
        self.optimizer.apply_gradients(zip(grads, self.params))
        return recon, kl


def warm(epoch, total):
    return min(1.0, epoch / total)


rng = np.random.default_rng(11)
x = (rng.normal(size=(320, 2)) @ rng.normal(size=(2, 8))).astype("float32")
data = tf.data.Dataset.from_tensor_slices(x).shuffle(320, seed=1).batch(32)
vae = BetaVAE(8)
for epoch in range(8):
    vae.beta.assign(warm(epoch, 4))
    vae.optimizer.learning_rate.assign(5e-3 * 0.9 ** epoch)
    for batch in data:
        recon, kl = vae.train_step(batch)
    print(epoch, "beta", float(vae.beta), "recon", float(recon), "kl", float(kl))
