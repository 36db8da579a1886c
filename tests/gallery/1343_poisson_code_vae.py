# case: poisson_code_vae
# verdict: bug
# cause: non-reparameterised-sample | no-registered-gradient
# expect_line: 31
# expect_variables: -
# symptom_today: autoencoders with discrete codes need a relaxation for the encoder to learn (the relaxation asked for in here with Poisson spike counts
# exit: 1
# fix: -
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(0)


class SpikeVAE(keras.Model):
    def __init__(self, code=6, width=10, prior_rate=2.0):
        super().__init__()
        self.prior_rate = prior_rate
        self.encoder = keras.Sequential([layers.Dense(16, activation="tanh"), layers.Dense(code)])
        self.decoder = keras.Sequential([layers.Dense(16, activation="tanh"), layers.Dense(width)])
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.recon_tracker = keras.metrics.Mean(name="recon")

    @property
    def metrics(self):
        return [self.loss_tracker, self.recon_tracker]

    def draw(self, rate):
        return tf.random.poisson([], rate, seed=4)

    def call(self, x):
        rate = tf.nn.softplus(self.encoder(x)) + 1e-3
        return self.decoder(self.draw(rate))

    def train_step(self, data):
        x = data[0] if isinstance(data, tuple) else data
        with tf.GradientTape() as tape:
            rate = tf.nn.softplus(self.encoder(x)) + 1e-3
            spikes = self.draw(rate)
            recon = tf.reduce_mean(tf.reduce_sum(tf.square(x - self.decoder(spikes)), -1))
            kl = rate * tf.math.log(rate / self.prior_rate) - rate + self.prior_rate
            loss = recon + 0.1 * tf.reduce_mean(tf.reduce_sum(kl, -1))
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        self.loss_tracker.update_state(loss)
        self.recon_tracker.update_state(recon)
        return {m.name: m.result() for m in self.metrics}


rng = np.random.default_rng(1)
mixing = rng.normal(size=(3, 10))
x = (rng.normal(size=(256, 3)) @ mixing).astype("float32")

vae = SpikeVAE()
vae(x[:2])
vae.compile(optimizer=keras.optimizers.Adam(3e-3))
history = vae.fit(x, epochs=5, batch_size=32, verbose=0)
print("recon", history.history["recon"])
