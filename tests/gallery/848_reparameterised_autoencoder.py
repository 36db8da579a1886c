# case: reparameterised_autoencoder
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: a VAE with a sampling layer and add_loss in fit
import keras
import numpy as np
from keras import ops

keras.utils.set_random_seed(9)


class Sample(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.noise = keras.random.SeedGenerator(9)

    def call(self, mean, log_var):
        eps = keras.random.normal(ops.shape(mean), seed=self.noise)
        self.add_loss(-0.05 * ops.mean(1 + log_var - ops.square(mean) - ops.exp(log_var)))
        return mean + ops.exp(0.5 * log_var) * eps


x_in = keras.Input((8,))
h = keras.layers.Dense(12, activation="relu")(x_in)
z = Sample()(keras.layers.Dense(2)(h), keras.layers.Dense(2)(h))
vae = keras.Model(x_in, keras.layers.Dense(8)(keras.layers.Dense(12, activation="relu")(z)))
vae.compile(keras.optimizers.Adam(0.01), "mse")
x = np.random.default_rng(9).normal(size=(128, 8)).astype("float32")
log = vae.fit(x, x, epochs=5, verbose=0).history["loss"]
print(log)
assert log[-1] < log[0]
