# case: log_variance_of_raw_counts
# verdict: bug; static: no
# cause: nan-exp
# expect_line: 28 29
# expect_variables: encoder/*
# symptom_today: silent: the loss is NaN in the first epoch
# exit: 0
# fix: clip the log-variance to a sane range (or scale the inputs)
# source: vanderschaarlab/synthcity#331 and AppliedDataSciencePartners/WorldModels#9 (log variance explodes, KL turns to NaN)
import numpy as np
import tensorflow as tf
import keras
from keras import layers, ops

keras.utils.set_random_seed(0)


class Vae(keras.Model):
    def __init__(self, dim, latent=2):
        super().__init__()
        self.encoder = keras.Sequential([layers.Dense(16, activation="relu"), layers.Dense(2 * latent)], name="encoder")
        self.decoder = keras.Sequential([layers.Dense(16, activation="relu"), layers.Dense(dim)], name="decoder")
        self.seed = keras.random.SeedGenerator(1)

    def call(self, x):
        mean, log_var = ops.split(self.encoder(x), 2, axis=-1)
        noise = keras.random.normal(ops.shape(mean), seed=self.seed)
        z = mean + ops.exp(0.5 * log_var) * noise
        kl = -0.5 * ops.sum(1.0 + log_var - ops.square(mean) - ops.exp(log_var), axis=-1)
        self.add_loss(ops.mean(kl))
        return self.decoder(z)


rng = np.random.default_rng(0)
reads = rng.poisson(rng.uniform(50, 900, size=(1, 10)), size=(64, 10)).astype("float32")
vae = Vae(10)
vae.compile(keras.optimizers.Adam(1e-3), "mse")
history = vae.fit(reads, reads, epochs=3, batch_size=16, verbose=0)
print(history.history["loss"])
assert not np.isfinite(history.history["loss"][-1])
