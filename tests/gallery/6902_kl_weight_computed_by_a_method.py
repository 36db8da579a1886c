# case: kl_weight_computed_by_a_method
# verdict: bug
# cause: python-state-in-graph
# expect_line: 64 61 65 71
# expect_variables: -
# symptom_today: the logged KL weight stays at its first value in all epochs, the KL term is next to free and grows and grows
# exit: 0
# fix: count the steps in a tf.Variable (or use self.optimizer.iterations) and compute the weight from it
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(8)


def ring(n=1024, seed=8):
    rng = np.random.default_rng(seed)
    ang = rng.uniform(0, 2 * np.pi, n)
    base = np.stack([np.cos(ang), np.sin(ang), np.cos(2 * ang), np.sin(2 * ang)], 1)
    return (base + 0.05 * rng.normal(size=base.shape)).astype("float32")


class Gaussian(layers.Layer):
    def __init__(self, latent, **kw):
        super().__init__(**kw)
        self.mu = layers.Dense(latent, name="mu")
        self.logvar = layers.Dense(latent, name="logvar")

    def build(self, shape):
        self.mu.build(shape)
        self.logvar.build(shape)

    def call(self, h):
        mu, logvar = self.mu(h), self.logvar(h)
        eps = tf.random.normal(tf.shape(mu))
        return mu, logvar, mu + tf.exp(0.5 * logvar) * eps


class AnnealedVAE(keras.Model):
    def __init__(self, latent=2, warmup=60, max_weight=1.0, **kw):
        super().__init__(**kw)
        self.warmup = warmup
        self.max_weight = max_weight
        self.seen = 0
        self.trunk = keras.Sequential([layers.Dense(32, activation="tanh")], name="trunk")
        self.posterior = Gaussian(latent, name="posterior")
        self.decoder = keras.Sequential(
            [layers.Dense(32, activation="tanh"), layers.Dense(4)], name="decoder")
        self.track = {k: keras.metrics.Mean(name=k) for k in ("rec", "kl", "weight")}

    @property
    def metrics(self):
        return list(self.track.values())

    def call(self, x):
        mu, logvar, z = self.posterior(self.trunk(x))
        return self.decoder(z), mu, logvar

    def kl_weight(self):
        return self.max_weight * min(1.0, self.seen / self.warmup)

    def train_step(self, x):
        self.seen += 1
        weight = self.kl_weight()
        with tf.GradientTape() as tape:
            out, mu, logvar = self(x, training=True)
            rec = tf.reduce_mean(tf.reduce_sum(tf.square(out - x), -1)) / 0.1
            kl = -0.5 * tf.reduce_mean(
                tf.reduce_sum(1.0 + logvar - tf.square(mu) - tf.exp(logvar), -1))
            loss = rec + weight * kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for key, value in (("rec", rec), ("kl", kl), ("weight", weight)):
            self.track[key].update_state(value)
        return {k: m.result() for k, m in self.track.items()}


x = ring()
data = tf.data.Dataset.from_tensor_slices(x).shuffle(1024, seed=2).batch(64).prefetch(2)
vae = AnnealedVAE()
vae(x[:1])
vae.compile(optimizer=keras.optimizers.Adam(3e-3), jit_compile=False)
log = vae.fit(data, epochs=8, verbose=0).history

print("weight", np.round(log["weight"], 4))
print("rec   ", np.round(log["rec"], 2))
print("kl    ", np.round(log["kl"], 2))
steps = int(vae.optimizer.iterations)
assert steps == 8 * 16 > vae.warmup
assert np.ptp(log["weight"]) < 1e-6 and log["weight"][-1] < 0.1
assert log["kl"][-1] > log["kl"][0]
