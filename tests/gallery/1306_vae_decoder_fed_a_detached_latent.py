# case: vae_decoder_fed_a_detached_latent
# verdict: bug; static: no
# cause: stop-gradient
# expect_line: 41
# expect_variables: encoder/*
# symptom_today: silent: the KL falls to zero and the reconstruction stays at the mean of the data
# exit: 0
# fix: decode z without tf.stop_gradient
# seen: terms of the loss: reconstruction (cut from encoder), KL (reaches encoder only)
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(30)
LATENT = 3


def mlp(name, inputs, outputs):
    return keras.Sequential(
        [keras.Input((inputs,)), keras.layers.Dense(24, activation="tanh"), keras.layers.Dense(outputs)], name=name)


class VAE(keras.Model):
    def __init__(self, width, **kw):
        super().__init__(**kw)
        self.encoder = mlp("encoder", width, 2 * LATENT)
        self.decoder = mlp("decoder", LATENT, width)
        self.tracked = {name: keras.metrics.Mean(name=name) for name in ("loss", "reconstruction", "kl")}

    @property
    def metrics(self):
        return list(self.tracked.values())

    def call(self, x):
        return self.decoder(self.encoder(x)[:, :LATENT])

    def train_step(self, x):
        with tf.GradientTape() as tape:
            mean, log_var = tf.split(self.encoder(x, training=True), 2, axis=-1)
            z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
            rebuilt = self.decoder(tf.stop_gradient(z), training=True)
            reconstruction = tf.reduce_mean(tf.reduce_sum(tf.square(x - rebuilt), axis=-1))
            kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var), axis=-1))
            loss = reconstruction + kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for name, value in zip(self.tracked, (loss, reconstruction, kl)):
            self.tracked[name].update_state(value)
        return {name: metric.result() for name, metric in self.tracked.items()}


rng = np.random.default_rng(30)
data = (rng.normal(size=(160, LATENT)) @ rng.normal(size=(LATENT, 10))).astype("float32")
vae = VAE(10, name="vae")
vae.compile(optimizer=keras.optimizers.Adam(0.01))
history = vae.fit(data, epochs=5, batch_size=32, verbose=0).history
print({name: [round(float(v), 3) for v in values] for name, values in history.items()})
assert history["kl"][-1] < history["kl"][0]
